/* bspprof.js - the page of bspprof: pictures of runs on an axis of time, and tables of them.
 *
 * A run comes as steps, each of one or more supersteps that follow each other.  What is drawn is the
 * level of detail that has about a step for each two points of the screen: level 0 are the steps as
 * they came, each further one has half as many. */
"use strict";
(function () {
    var PANELS = [["out", 130], ["in", 130], ["parts", 80], ["cost", 130], ["h", 80]];
    var LEFT = 84, RIGHT = 150, TOP = 44, GAP = 30, FOOT = 44;
    var STOPS = ["#00204c", "#31446b", "#666970", "#958f78", "#cab969", "#ffea46"];
    var SUMS = ["count", "computing", "waiting", "communicating", "h"];
    /* What happened at the end of a superstep: its mark, and what came before the program went on. */
    var MARKS = {
        saved: ["circle", "#fff", "snapshot"],
        failed: ["cross", "#d55e00", "failure"],
        restarted: ["triangle-up", "#f0e442", "restart"],
        moved: ["diamond", "#009e73", "move"],
        restored: ["triangle-down", "#000", "restored"]
    };
    var add = page.add, time = page.time;

    /* ---- Steps and their levels of detail ---- */

    function half(level) {
        var n = level.count.length, next = { in: [], out: [] };
        function pairs(list, join) {
            var result = [];
            for (var i = 0; i < n; i += 2)
                result.push(i + 1 < n ? join(list[i], list[i + 1], i) : list[i]);
            return result;
        }
        function sum(a, b) { return a + b; }
        function late(a, b, i) { return level.took[i] >= level.took[i + 1] ? a : b; }
        SUMS.forEach(function (name) { next[name] = pairs(level[name], sum); });
        ["in", "out"].forEach(function (way) {
            next[way] = level[way].map(function (band) { return pairs(band, sum); });
        });
        next.first = pairs(level.first, function (a) { return a; });
        next.start = pairs(level.start, function (a) { return a; });
        next.end = pairs(level.end, function (a, b) { return b; });
        next.h_most = pairs(level.h_most, Math.max);
        next.took = pairs(level.took, Math.max);
        next.costliest = pairs(level.costliest, late);
        next.statement = pairs(level.statement, late);
        return next;
    }

    function levels(steps) {
        var list = [steps];
        while (list[list.length - 1].count.length > 256)
            list.push(half(list[list.length - 1]));
        return list;
    }

    /* The first step that ends after a time. */
    function find(level, at) {
        var low = 0, high = level.end.length - 1;
        while (low < high) {
            var middle = (low + high) >> 1;
            if (level.end[middle] > at)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }

    function predicted(run, sums) {
        var c = run.costs;
        return sums.computing * c.scale + (sums.h * c.g + sums.count * c.l) / c.s * 1e3;
    }

    function sumsOf(level, i) {
        var sums = {};
        SUMS.forEach(function (name) { sums[name] = level[name][i]; });
        return sums;
    }

    function nameOf(run, id) {
        var found = run.statements.filter(function (one) { return one.id === id; })[0];
        return found ? found.name : "statement " + id;
    }

    function ranks(run, band) {
        var first = run.bands[band], last = run.bands[band + 1] - 1;
        return first === last ? String(first) : first + "–" + last;
    }

    /* ---- A figure ---- */

    function Figure(parent, run, number) {
        this.run = run;
        this.number = number;
        this.levels = levels(run.steps);
        this.from = run.steps.start[0];
        this.to = Math.max(run.steps.end[run.steps.end.length - 1], this.from + 1);
        this.cursor = null;
        this.log = false;
        this.x = d3.scale.linear().domain([this.from, this.to]);
        this.colour = d3.scale.linear().range(STOPS).domain(STOPS.map(function (s, i) {
            return i / (STOPS.length - 1) * Math.max(1, run.bands.length - 2);
        }));
        this.build(parent);
    }

    Figure.prototype.build = function (parent) {
        var figure = this, bar = add(parent, "div", "bar");
        function button(text, label, work) {
            var one = add(bar, "button", "", text);
            one.setAttribute("aria-label", label);
            one.addEventListener("click", work);
            return one;
        }
        button("+", "zoom in", function () { figure.zoomBy(2); });
        button("−", "zoom out", function () { figure.zoomBy(0.5); });
        button("◀", "earlier", function () { figure.panBy(-0.5); });
        button("▶", "later", function () { figure.panBy(0.5); });
        button("all", "show the whole run", function () { figure.show(figure.from, figure.to); });
        var log = button("logarithmic cost", "logarithmic axis of costs", function () {
            figure.log = !figure.log;
            log.setAttribute("aria-pressed", String(figure.log));
            figure.draw();
        });
        log.setAttribute("aria-pressed", "false");
        this.range = add(bar, "span", "soft");
        this.range.setAttribute("aria-live", "polite");
        this.place = add(parent, "div", "figure");
        this.svg = d3.select(this.place).append("svg").attr("tabindex", 0).attr("role", "img")
            .attr("class", "run").attr("id", "run" + this.number)
            .attr("aria-label", "Supersteps of " + this.run.name + " along time. Arrow keys go from step to step.");
        this.reading = add(parent, "div", "reading");
        this.reading.setAttribute("aria-live", "polite");
        this.reading.textContent = "Point at the picture, or move along it with the arrow keys, to read a step.";
        var keys = add(parent, "p", "keys");
        keys.innerHTML = "Keys in the picture: <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Shift</kbd> with them: " +
            "move, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>Home</kbd> <kbd>End</kbd>, <kbd>0</kbd> all. " +
            "Mouse: wheel zooms, drag moves.";
        this.zoom = d3.behavior.zoom().scaleExtent([1, Math.max(1, this.levels[0].count.length)])
            .on("zoom", function () { figure.keep(); figure.draw(); });
        this.svg.node().addEventListener("keydown", function (event) { figure.key(event); });
        window.addEventListener("resize", function () { figure.size(); });
        this.size();
    };

    Figure.prototype.size = function () {
        var width = Math.max(600, this.place.clientWidth), y = TOP, figure = this;
        this.width = width - LEFT - RIGHT;
        this.y = {};
        PANELS.forEach(function (panel) {
            figure.y[panel[0]] = y;
            y += panel[1] + GAP;
        });
        this.height = y - GAP;
        this.svg.attr("viewBox", [0, 0, width, this.height + FOOT].join(" ")).selectAll("*").remove();
        this.svg.append("defs").html(
            '<clipPath id="clip' + this.number + '"><rect x="0" y="0" width="' + this.width + '" height="' +
            (this.height + 1) + '"/></clipPath>' +
            '<pattern id="waiting" width="5" height="5" patternUnits="userSpaceOnUse">' +
            '<path d="M0 0h5v5h-5z" fill="#f0c878"/><path d="M0 5L5 0" stroke="#704c00"/></pattern>' +
            '<pattern id="communicating" width="4" height="4" patternUnits="userSpaceOnUse">' +
            '<path d="M0 0h4v4h-4z" fill="#8fd6bf"/><circle cx="2" cy="2" r=".8" fill="#00604a"/></pattern>');
        this.x.range([0, this.width]);
        this.frame = this.svg.append("g").attr("transform", "translate(" + LEFT + ",0)");
        this.legend();
        this.view = this.frame.append("g").attr("clip-path", "url(#clip" + this.number + ")");
        this.axes = this.frame.append("g");
        this.line = this.frame.append("line").attr("class", "cursor").attr("y1", TOP - 4)
            .attr("y2", this.height).style("display", "none");
        this.frame.append("rect").attr("class", "catch").attr("y", TOP).attr("width", this.width)
            .attr("height", this.height - TOP).style("fill", "none").style("pointer-events", "all")
            .on("mousemove", function () { figure.point(figure.x.invert(d3.mouse(this)[0])); })
            .call(this.zoom);
        this.tellZoom();
        this.draw();
    };

    /* The zoom behaviour works on a scale of the whole run, of which x is the part that is shown. */
    Figure.prototype.tellZoom = function () {
        var domain = this.x.domain(), scale = (this.to - this.from) / (domain[1] - domain[0]);
        this.zoom.x(d3.scale.linear().domain([this.from, this.to]).range([0, this.width]));
        this.zoom.scale(scale).translate([-(domain[0] - this.from) / (this.to - this.from) * this.width * scale, 0]);
    };

    Figure.prototype.keep = function () {
        var domain = this.zoom.x().domain();
        this.set(domain[0], domain[1]);
        this.tellZoom();
    };

    Figure.prototype.set = function (from, to) {
        var span = Math.min(to - from, this.to - this.from);
        from = Math.max(this.from, Math.min(from, this.to - span));
        this.x.domain([from, from + span]);
    };

    Figure.prototype.show = function (from, to) {
        this.set(from, to);
        this.tellZoom();
        this.draw();
    };

    Figure.prototype.zoomBy = function (factor) {
        var d = this.x.domain(), least = (this.to - this.from) / this.zoom.scaleExtent()[1];
        var middle = this.cursor !== null && this.cursor > d[0] && this.cursor < d[1] ? this.cursor : (d[0] + d[1]) / 2;
        var span = Math.max(least, (d[1] - d[0]) / factor);
        var share = (middle - d[0]) / (d[1] - d[0]);
        this.show(middle - share * span, middle + (1 - share) * span);
    };

    Figure.prototype.panBy = function (share) {
        var d = this.x.domain(), by = share * (d[1] - d[0]);
        this.show(d[0] + by, d[1] + by);
    };

    Figure.prototype.key = function (event) {
        var figure = this, keys = {
            "+": function () { figure.zoomBy(2); }, "=": function () { figure.zoomBy(2); },
            "-": function () { figure.zoomBy(0.5); }, "0": function () { figure.show(figure.from, figure.to); },
            "Home": function () { figure.point(figure.from); }, "End": function () { figure.point(figure.to); },
            "ArrowLeft": function () { if (event.shiftKey) figure.panBy(-0.25); else figure.stepBy(-1); },
            "ArrowRight": function () { if (event.shiftKey) figure.panBy(0.25); else figure.stepBy(1); }
        };
        if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key])
            return;
        keys[event.key]();
        event.preventDefault();
    };

    Figure.prototype.stepBy = function (by) {
        var level = this.level, i = this.cursor === null ? find(level, this.x.domain()[0]) - by : find(level, this.cursor);
        i = Math.max(0, Math.min(level.end.length - 1, i + by));
        this.point((level.start[i] + level.end[i]) / 2);
    };

    /* ---- Reading a step ---- */

    Figure.prototype.point = function (at) {
        var d = this.x.domain(), level, i;
        this.cursor = Math.max(this.from, Math.min(this.to, at));
        if (this.cursor < d[0] || this.cursor > d[1])
            this.show(this.cursor - (d[1] - d[0]) / 2, this.cursor + (d[1] - d[0]) / 2);
        level = this.level;
        i = find(level, this.cursor);
        this.line.style("display", null).attr("x1", this.x(this.cursor)).attr("x2", this.x(this.cursor));
        this.read(level, i);
    };

    Figure.prototype.read = function (level, i) {
        var run = this.run, sums = sumsOf(level, i), n = sums.count, out = 0, place = this.reading;
        var measured = sums.computing + sums.communicating;
        level.out.forEach(function (band) { out += band[i]; });
        place.textContent = "";
        function line(pairs) {
            var one = add(place, "div");
            pairs.forEach(function (pair, k) {
                one.appendChild(document.createTextNode((k ? "; " : "") + pair[0] + " "));
                add(one, "b", "", pair[1]);
            });
        }
        line([[n === 1 ? "Superstep" : "Supersteps",
            page.whole(level.first[i]) + (n === 1 ? "" : " to " + page.whole(level.first[i] + n - 1))],
        ["from", time(level.start[i])], ["to", time(level.end[i])],
        [n === 1 ? "ended at" : "costliest of them " + page.whole(level.costliest[i]) + ", " + time(level.took[i]) + ", at",
            nameOf(run, level.statement[i])]]);
        line([[n === 1 ? "Measured" : "Measured, of one in the mean", time(measured / n)],
        ["computing", time((sums.computing - sums.waiting) / n)],
        ["waiting", run.spread ? time(sums.waiting / n) : "not known"],
        ["communicating", time(sums.communicating / n)],
        ["predicted", time(predicted(run, sums) / n)],
        ["h", page.whole(sums.h / n) + " words"], ["bytes", page.bytes(out / n)]]);
    };

    /* ---- Drawing ---- */

    Figure.prototype.pick = function () {
        var d = this.x.domain(), most = this.width / 2, list = this.levels;
        for (var k = 0; k < list.length; k++) {
            var first = find(list[k], d[0]), last = find(list[k], d[1]);
            if (last - first <= most || k + 1 === list.length) {
                this.level = list[k];
                this.first = first;
                this.last = last + 1;
                return;
            }
        }
    };

    Figure.prototype.draw = function () {
        var d = this.x.domain();
        this.pick();
        this.view.selectAll("*").remove();
        this.axes.selectAll("*").remove();
        this.drawBands("out");
        this.drawBands("in");
        this.drawParts();
        this.drawCost();
        this.drawH();
        this.drawMarks();
        var axis = d3.svg.axis().scale(this.x).orient("bottom").ticks(8).tickFormat(time);
        this.axes.append("g").attr("class", "axis").attr("transform", "translate(0," + this.height + ")").call(axis);
        this.axes.append("text").attr("x", this.width / 2).attr("y", this.height + 38).attr("text-anchor", "middle")
            .text("time since bsp_begin");
        if (this.cursor !== null)
            this.line.attr("x1", this.x(this.cursor)).attr("x2", this.x(this.cursor))
                .style("display", this.cursor >= d[0] && this.cursor <= d[1] ? null : "none");
        this.tellRange(d);
    };

    Figure.prototype.tellRange = function (d) {
        var one = this.level.count[this.first], text = time(d[0]) + " to " + time(d[1]);
        text += one > 1 ? ", a step stands for " + page.whole(one) + " supersteps" : ", each superstep is shown";
        if (this.run.per > 1 && this.level === this.levels[0])
            text += "; for single ones: bspprof -zoom " + (d[0] / 1e9).toPrecision(9) + "," + (d[1] / 1e9).toPrecision(9);
        this.range.textContent = text;
    };

    Figure.prototype.panel = function (name, title, scale, format, ticks) {
        var axis = d3.svg.axis().scale(scale).orient("left").ticks(ticks || 4).tickFormat(format);
        var at = "translate(0," + this.y[name] + ")";
        if (format === page.bytes)
            axis.tickValues(byteTicks(scale.domain()[1]));
        if (this.log && name === "cost")
            axis.tickValues(scale.ticks().filter(function (v) { return Math.abs(Math.log10(v) % 1) < 1e-9; }));
        this.axes.append("g").attr("class", "axis").attr("transform", at).call(axis);
        this.axes.append("text").attr("class", "title").attr("y", this.y[name] - 8).text(title);
        return this.view.append("g").attr("transform", at).attr("class", "panel " + name);
    };

    /* Round numbers of their unit. */
    function byteTicks(most) {
        var unit = Math.pow(1024, Math.floor(Math.log(Math.max(1, most / 2)) / Math.log(1024)));
        return d3.scale.linear().domain([0, most / unit]).ticks(4).map(function (value) { return value * unit; });
    }

    /* Along the steps that are shown: an outline from y1 to y0. */
    Figure.prototype.area = function (y0, y1) {
        var level = this.level, there = [], back = [];
        for (var i = this.first; i < this.last; i++) {
            var a = this.x(level.start[i]).toFixed(1), b = this.x(level.end[i]).toFixed(1);
            var top = y1(i).toFixed(1), foot = y0(i).toFixed(1);
            there.push(a + "," + top + "L" + b + "," + top);
            back.unshift(b + "," + foot + "L" + a + "," + foot);
        }
        return "M" + there.join("L") + "L" + back.join("L") + "Z";
    };

    Figure.prototype.curve = function (y) {
        var level = this.level, list = [];
        for (var i = this.first; i < this.last; i++)
            list.push(this.x(level.start[i]).toFixed(1) + "," + y(i).toFixed(1) + "H" + this.x(level.end[i]).toFixed(1));
        return "M" + list.join("L");
    };

    Figure.prototype.mostBytes = function () {
        var level = this.level, most = 1, figure = this;
        ["in", "out"].forEach(function (way) {
            for (var i = figure.first; i < figure.last; i++)
                most = Math.max(most, d3.sum(level[way], function (band) { return band[i]; }) / level.count[i]);
        });
        return most;
    };

    Figure.prototype.drawBands = function (way) {
        var figure = this, level = this.level, height = PANELS[0][1];
        var y = d3.scale.linear().domain([0, this.mostBytes()]).range(way === "out" ? [height, 0] : [0, height]).nice();
        var place = this.panel(way, way === "out" ? "Bytes out of a superstep, by process" :
            "Bytes into processes, downwards", y, page.bytes);
        var below = new Float64Array(level.count.length);
        level[way].forEach(function (band, k) {
            var above = below.slice();
            for (var i = figure.first; i < figure.last; i++)
                above[i] += band[i] / level.count[i];
            var foot = below;
            place.append("path").attr("fill", figure.colour(k)).attr("stroke", "#fff").attr("stroke-width", 0.3)
                .attr("d", figure.area(function (i) { return y(foot[i]); }, function (i) { return y(above[i]); }))
                .append("title").text("process " + ranks(figure.run, k));
            below = above;
        });
    };

    Figure.prototype.drawParts = function () {
        var level = this.level, height = PANELS[2][1], figure = this;
        var y = d3.scale.linear().domain([0, 1]).range([height, 0]);
        var place = this.panel("parts", "Parts of the time", y, d3.format("%"), 2);
        function share(i, parts) {
            var all = level.computing[i] + level.communicating[i], sum = 0;
            if (parts > 0)
                sum += level.computing[i] - level.waiting[i];
            if (parts > 1)
                sum += level.waiting[i];
            if (parts > 2)
                sum += level.communicating[i];
            return y(all > 0 ? sum / all : 0);
        }
        ["#0072b2", "url(#waiting)", "url(#communicating)"].forEach(function (fill, k) {
            place.append("path").attr("fill", fill).attr("d", figure.area(
                function (i) { return share(i, k); }, function (i) { return share(i, k + 1); }));
        });
    };

    Figure.prototype.drawCost = function () {
        var level = this.level, run = this.run, figure = this, height = PANELS[3][1], most = 1, least = Infinity;
        function measured(i) { return (level.computing[i] + level.communicating[i]) / level.count[i]; }
        function model(i) { return predicted(run, sumsOf(level, i)) / level.count[i]; }
        for (var i = this.first; i < this.last; i++) {
            most = Math.max(most, measured(i), model(i));
            least = Math.min(least, Math.max(1, measured(i)), Math.max(1, model(i)));
        }
        var y = this.log ? d3.scale.log().domain([least, Math.max(most, least * 10)]).range([height, 0]).clamp(true) :
            d3.scale.linear().domain([0, most]).range([height, 0]).nice();
        var place = this.panel("cost", "Cost of a superstep", y, time);
        place.append("path").attr("class", "measured").attr("d", figure.curve(function (i) { return y(Math.max(measured(i), least)); }));
        place.append("path").attr("class", "predicted").attr("d", figure.curve(function (i) { return y(Math.max(model(i), least)); }));
    };

    Figure.prototype.drawH = function () {
        var level = this.level, height = PANELS[4][1], most = 1;
        for (var i = this.first; i < this.last; i++)
            most = Math.max(most, level.h[i] / level.count[i]);
        var y = d3.scale.linear().domain([0, most]).range([height, 0]).nice();
        var place = this.panel("h", "h-relation of a superstep, in words of 32 bits", y, d3.format("s"), 3);
        place.append("path").attr("class", "h").attr("d", this.area(function () { return height; },
            function (i) { return y(level.h[i] / level.count[i]); }));
    };

    Figure.prototype.drawMarks = function () {
        var figure = this, d = this.x.domain(), shown, last = -100;
        shown = this.run.marks.filter(function (mark) { return mark.at >= d[0] && mark.at <= d[1]; });
        shown.forEach(function (mark) {
            var x = figure.x(mark.at), place;
            if (mark.what === "saved" && x - last < 5)
                return; /* too many to be seen one by one */
            last = x;
            place = figure.axes.append("g");
            place.append("line").attr("class", "mark " + mark.what).attr("x1", x).attr("x2", x)
                .attr("y1", TOP - 24).attr("y2", figure.height);
            place.append("path").attr("transform", "translate(" + x + "," + (TOP - 28) + ")")
                .attr("d", d3.svg.symbol().type(MARKS[mark.what][0]).size(50))
                .attr("fill", MARKS[mark.what][1]).attr("stroke", "#000");
            place.append("title").text(describe(mark));
        });
    };

    Figure.prototype.legend = function () {
        var figure = this, x = this.width + 16, bands = this.run.bands.length - 1, shown = Math.min(bands, 8);
        var place = this.frame.append("g");
        function text(y, words, kind) {
            return place.append("text").attr("x", x + (kind ? 0 : 20)).attr("y", y).attr("class", kind || "").text(words);
        }
        text(TOP - 8, "process", "title");
        for (var i = 0; i < shown; i++) {
            var band = shown > 1 ? Math.round((shown - 1 - i) * (bands - 1) / (shown - 1)) : 0;
            place.append("rect").attr("x", x).attr("y", TOP + 15 * i).attr("width", 13).attr("height", 13)
                .attr("fill", figure.colour(band)).attr("stroke", "#555").attr("stroke-width", 0.5);
            text(TOP + 11 + 15 * i, ranks(this.run, band));
        }
        [["#0072b2", "computing"], ["url(#waiting)", "waiting"], ["url(#communicating)", "communicating"]]
            .reverse().forEach(function (part, k) {
                place.append("rect").attr("x", x).attr("y", figure.y.parts + 22 * k).attr("width", 13).attr("height", 13)
                    .attr("fill", part[0]).attr("stroke", "#333").attr("stroke-width", 0.5);
                text(figure.y.parts + 11 + 22 * k, part[1]);
            });
        ["measured", "predicted"].forEach(function (name, k) {
            var y = figure.y.cost + 8 + 22 * k;
            place.append("line").attr("class", name).attr("x1", x - 4).attr("x2", x + 16).attr("y1", y).attr("y2", y);
            text(y + 4, k ? "w + g h + l" : name);
        });
        Object.keys(MARKS).filter(function (what) {
            return figure.run.marks.some(function (mark) { return mark.what === what; });
        }).forEach(function (what, k) {
            var y = figure.y.h + 4 + 18 * k, one = MARKS[what];
            place.append("path").attr("class", "key " + what).attr("transform", "translate(" + (x + 6) + "," + y + ")")
                .attr("d", d3.svg.symbol().type(one[0]).size(50)).attr("fill", one[1]).attr("stroke", "#000");
            text(y + 4, one[2]);
        });
    };

    function describe(mark) {
        var after = " after superstep " + page.whole(mark.superstep - 1);
        if (mark.what === "saved")
            return "snapshot" + after + ": a pause of " + time(mark.lasted);
        return (mark.what === "restored" ? "failure, restart or move" : MARKS[mark.what][2]) +
            ": went on from the snapshot" + after + ", " + time(mark.lasted) + " after it was taken";
    }

    /* ---- Tables ---- */

    function numeric(name, value, show) {
        return { name: name, value: value, show: show && function (row) { return show(value(row)); } };
    }

    function supersteps(parent, run, figure) {
        var single = run.single, rows = single.number.map(function (number, i) {
            var row = { computing: single.computing[i] - single.waiting[i] };
            Object.keys(single).forEach(function (key) { if (key !== "computing") row[key] = single[key][i]; });
            row.cost = single.computing[i] + single.communicating[i];
            row.model = predicted(run, { count: 1, computing: single.computing[i], h: row.h });
            row.name = nameOf(run, row.statement);
            return row;
        });
        add(parent, "h2", "", "Supersteps that cost most, or are most uneven");
        var bar = add(parent, "div", "bar"), sort;
        add(bar, "span", "soft", "Sort by");
        [["cost", "measured"], ["statement", "ended at"], ["imbalance", "waiting"]].forEach(function (one) {
            add(bar, "button", "", one[0]).addEventListener("click", function () { sort(one[1]); });
        });
        add(bar, "span", "soft", "A row that is chosen is shown in the picture.");
        sort = page.table(parent, "single supersteps", [
            numeric("superstep", function (r) { return r.number; }, page.whole),
            { name: "ended at", text: true, value: function (r) { return r.name; } },
            numeric("begins", function (r) { return r.start; }, time),
            numeric("measured", function (r) { return r.cost; }, time),
            numeric("predicted", function (r) { return r.model; }, time),
            numeric("computing", function (r) { return r.computing; }, time),
            numeric("waiting", function (r) { return r.waiting; }, run.spread ? time : function () { return "–"; }),
            numeric("communicating", function (r) { return r.communicating; }, time),
            numeric("h (words)", function (r) { return r.h; }, page.whole),
            numeric("bytes", function (r) { return r.bytes; }, page.bytes)
        ], rows, 3, function (row) {
            figure.show(row.start - 2 * row.cost, row.start + 3 * row.cost);
            figure.point(row.start + row.cost / 2);
            figure.svg.node().focus();
        });
    }

    function sumColumns(run) {
        return [
            numeric("supersteps", function (r) { return r.supersteps; }, page.whole),
            numeric("measured", function (r) { return r.computing + r.communicating; }, time),
            numeric("share", function (r) { return r.computing + r.communicating; }, function (v) {
                return page.percent(v, run.all.computing + run.all.communicating);
            }),
            numeric("predicted", function (r) { return modelOf(run, r); }, time),
            numeric("computing", function (r) { return r.computing - r.waiting; }, time),
            numeric("waiting", function (r) { return r.waiting; }, run.spread ? time : function () { return "–"; }),
            numeric("communicating", function (r) { return r.communicating; }, time),
            numeric("h (words)", function (r) { return r.h; }, page.whole),
            numeric("bytes", function (r) { return r.bytes; }, page.bytes)
        ];
    }

    function modelOf(run, sums) {
        return predicted(run, { count: sums.supersteps, computing: sums.computing, h: sums.h });
    }

    function statements(parent, run) {
        add(parent, "h2", "", "Statements");
        page.table(parent, "statements", [
            { name: "ended at", text: true, value: function (r) { return r.name; } }
        ].concat(sumColumns(run), [numeric("longest", function (r) { return r.longest; }, time)]), run.statements, 2);
    }

    function marks(parent, run) {
        if (run.marks.length === 0)
            return;
        add(parent, "h2", "", "Snapshots and restores");
        if (run.mark_count > run.marks.length)
            add(parent, "p", "soft", "The first " + run.marks.length + " of " + page.whole(run.mark_count) + ".");
        page.table(parent, "snapshots and restores", [
            numeric("time", function (r) { return r.at; }, time),
            { name: "what", text: true, value: describe }
        ], run.marks, 0);
    }

    /* Statements of the same name in both runs. */
    function compare(parent, a, b) {
        var rows = {}, list;
        function of(name) {
            rows[name] = rows[name] || { name: name, a: null, b: null };
            return rows[name];
        }
        function cost(sums) { return sums ? sums.computing + sums.communicating : 0; }
        a.statements.forEach(function (one) { of(one.name).a = one; });
        b.statements.forEach(function (one) { of(one.name).b = one; });
        list = Object.keys(rows).map(function (name) { return rows[name]; });
        list.push({ name: "all", a: a.all, b: b.all });
        add(parent, "h2", "", "Comparison");
        add(parent, "p", "soft", "A: " + a.name + "; B: " + b.name + ".");
        page.table(parent, "comparison", [
            { name: "ended at", text: true, value: function (r) { return r.name; } },
            numeric("A: supersteps", function (r) { return r.a ? r.a.supersteps : 0; }, page.whole),
            numeric("B: supersteps", function (r) { return r.b ? r.b.supersteps : 0; }, page.whole),
            numeric("A: measured", function (r) { return cost(r.a); }, time),
            numeric("B: measured", function (r) { return cost(r.b); }, time),
            numeric("B − A", function (r) { return cost(r.b) - cost(r.a); }, time),
            numeric("B / A", function (r) { return cost(r.a) > 0 ? cost(r.b) / cost(r.a) : Infinity; },
                function (v) { return isFinite(v) ? page.digits(v) : "–"; }),
            numeric("A: h (words)", function (r) { return r.a ? r.a.h : 0; }, page.whole),
            numeric("B: h (words)", function (r) { return r.b ? r.b.h : 0; }, page.whole)
        ], list, 3);
    }

    /* ---- The page ---- */

    function head(parent, run) {
        var all = run.all, measured = all.computing + all.communicating, c = run.costs, model = modelOf(run, all);
        page.facts(parent, [
            ["processes", page.whole(run.ranks)],
            ["supersteps", page.whole(all.supersteps),
                all.supersteps === run.whole ? "" : "of " + page.whole(run.whole)],
            ["time in them", time(measured)],
            ["computing", page.percent(all.computing - all.waiting, measured)],
            ["waiting", run.spread ? page.percent(all.waiting, measured) : "not known"],
            ["communicating", page.percent(all.communicating, measured)],
            ["sum of h", page.whole(all.h), "words"],
            ["predicted", time(model), "w + g h + l"]
        ]);
        add(parent, "p", "soft", "Predicted with s = " + c.s + " Mflop/s, l = " + c.l + " flops, g = " + c.g +
            " flops per word (" + c.where + ")" + (c.other && !c.scaled ? "; the speed of the machine of the " +
                "profile is not known, so that computing is taken as measured" : "") + "." +
            (run.complete ? "" : " The profile ends early: what followed its last superstep is not in it.") +
            (run.spread ? "" : " It does not say how evenly processes compute."));
    }

    function main() {
        add(page.root, "h1", "", page.data.title);
        var runs = page.data.runs;
        if (runs.length === 2)
            compare(page.root, runs[0], runs[1]);
        runs.forEach(function (run, i) {
            var place = add(page.root, "section");
            if (runs.length > 1)
                add(place, "h2", "", (i ? "B: " : "A: ") + run.name);
            head(place, run);
            if (run.all.supersteps === 0) {
                add(place, "p", "", "There is no superstep in this profile.");
                return;
            }
            var figure = new Figure(place, run, i);
            supersteps(place, run, figure);
            statements(place, run);
            marks(place, run);
        });
        document.body.setAttribute("data-drawn", "yes");
    }

    main();
}());
