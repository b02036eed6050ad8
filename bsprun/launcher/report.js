/* report.js - the page of bsprun --report=html: the time of a job, its snapshots, faults, hosts and
 * processes, and what was learned of failures. */
"use strict";
(function () {
    var LEFT = 16, RIGHT = 150, TOP = 46, HEIGHT = 60, SIZES = 90, GAP = 40, FOOT = 44;
    var add = page.add, data = page.data, MS = 1e6;
    var USES = [["useful", "#0072b2"], ["lost", "url(#lost)"], ["down", "url(#down)"], ["start", "#d9d9d9"]];
    var MARKS = { fault: ["cross", "#d55e00", "fault"], moved: ["diamond", "#009e73", "move"],
        restarted: ["triangle-up", "#f0e442", "restart"] };

    function ms(value) { return page.time(value * MS); }
    function seconds(value) { return value === null || value === undefined ? "not known" : page.time(value * 1e9); }
    function column(name, value, show, text) {
        return { name: name, value: value, show: show && function (row) { return show(value(row)); }, text: text };
    }

    /* ---- The picture ---- */

    function describe(event) {
        switch (event.what) {
        case "saved":
            return "snapshot of superstep " + page.whole(event.superstep) + ": " + page.bytes(event.bytes) +
                ", paused " + page.time(event.pause) + ", committed after " + page.time(event.commit);
        case "back": return "back to superstep " + page.whole(event.superstep);
        case "fault": return event.text || "a fault";
        case "moved": return "processes move";
        case "restarted": return "bsprun was started again";
        case "running": return "the processes compute";
        default: return "the processes have stopped";
        }
    }

    function Figure(parent) {
        var figure = this, bar = add(parent, "div", "bar");
        function button(text, label, work) {
            var one = add(bar, "button", "", text);
            one.setAttribute("aria-label", label);
            one.addEventListener("click", work);
        }
        this.whole = Math.max(1, data.time);
        this.x = d3.scale.linear().domain([0, this.whole]);
        this.chosen = -1;
        this.shown = data.events.filter(function (event) { return event.what !== "running" && event.what !== "stopped"; });
        button("+", "zoom in", function () { figure.zoomBy(2); });
        button("−", "zoom out", function () { figure.zoomBy(0.5); });
        button("all", "show the whole job", function () { figure.show(0, figure.whole); });
        this.range = add(bar, "span", "soft");
        this.place = add(parent, "div", "figure");
        this.svg = d3.select(this.place).append("svg").attr("tabindex", 0).attr("role", "img").attr("class", "job")
            .attr("aria-label", "The time of the job. Arrow keys go from event to event.");
        this.reading = add(parent, "div", "reading");
        this.reading.setAttribute("aria-live", "polite");
        this.reading.textContent = "Arrow keys in the picture go from event to event.";
        this.svg.node().addEventListener("keydown", function (event) { figure.key(event); });
        this.zoom = d3.behavior.zoom().scaleExtent([1, 1e5]).on("zoom", function () {
            var d = figure.zoom.x().domain();
            figure.show(d[0], d[1]);
        });
        window.addEventListener("resize", function () { figure.size(); });
        this.size();
    }

    Figure.prototype.size = function () {
        var width = Math.max(600, this.place.clientWidth);
        this.width = width - LEFT - RIGHT;
        this.height = TOP + HEIGHT + GAP + SIZES;
        this.svg.attr("viewBox", [0, 0, width, this.height + FOOT].join(" ")).selectAll("*").remove();
        this.svg.append("defs").html(
            '<clipPath id="clip"><rect x="0" y="0" width="' + this.width + '" height="' + this.height + '"/></clipPath>' +
            '<pattern id="lost" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0 0h6v6h-6z" fill="#f0c878"/>' +
            '<path d="M0 6L6 0" stroke="#704c00"/></pattern>' +
            '<pattern id="down" width="5" height="5" patternUnits="userSpaceOnUse"><path d="M0 0h5v5h-5z" fill="#fff"/>' +
            '<circle cx="2.5" cy="2.5" r="1" fill="#222"/></pattern>');
        this.x.range([0, this.width]);
        this.frame = this.svg.append("g").attr("transform", "translate(" + LEFT + ",0)");
        this.legend();
        this.view = this.frame.append("g").attr("clip-path", "url(#clip)");
        this.axes = this.frame.append("g");
        this.svg.call(this.zoom).on("touchstart.zoom", null);
        var d = this.x.domain();
        this.show(d[0], d[1]);
    };

    Figure.prototype.show = function (from, to) {
        var span = Math.max(this.whole / 1e5, Math.min(to - from, this.whole));
        from = Math.max(0, Math.min(from, this.whole - span));
        this.x.domain([from, from + span]);
        this.zoom.x(d3.scale.linear().domain([0, this.whole]).range([0, this.width]));
        this.zoom.scale(this.whole / span).translate([-from / span * this.width, 0]);
        this.range.textContent = ms(from) + " to " + ms(from + span);
        this.draw();
    };

    Figure.prototype.zoomBy = function (factor) {
        var d = this.x.domain(), middle = (d[0] + d[1]) / 2, half = (d[1] - d[0]) / factor / 2;
        this.show(middle - half, middle + half);
    };

    Figure.prototype.key = function (event) {
        var figure = this, keys = {
            "+": function () { figure.zoomBy(2); }, "=": function () { figure.zoomBy(2); },
            "-": function () { figure.zoomBy(0.5); }, "0": function () { figure.show(0, figure.whole); },
            "Home": function () { figure.choose(0); }, "End": function () { figure.choose(figure.shown.length - 1); },
            "ArrowLeft": function () { figure.choose(figure.chosen - 1); },
            "ArrowRight": function () { figure.choose(figure.chosen + 1); }
        };
        if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key])
            return;
        keys[event.key]();
        event.preventDefault();
    };

    Figure.prototype.choose = function (number) {
        var d = this.x.domain(), event;
        if (this.shown.length === 0)
            return;
        this.chosen = Math.max(0, Math.min(this.shown.length - 1, number));
        event = this.shown[this.chosen];
        this.reading.textContent = "After " + ms(event.at) + ": " + describe(event);
        if (event.at < d[0] || event.at > d[1])
            this.show(event.at - (d[1] - d[0]) / 2, event.at + (d[1] - d[0]) / 2);
        else
            this.draw();
    };

    Figure.prototype.draw = function () {
        var figure = this, d = this.x.domain(), fills = {};
        this.view.selectAll("*").remove();
        this.axes.selectAll("*").remove();
        USES.forEach(function (use) { fills[use[0]] = use[1]; });
        data.spans.forEach(function (span) {
            if (span.to < d[0] || span.from > d[1])
                return;
            figure.view.append("rect").attr("class", "span " + span.use).attr("x", figure.x(span.from)).attr("y", TOP)
                .attr("width", Math.max(0.5, figure.x(span.to) - figure.x(span.from))).attr("height", HEIGHT)
                .attr("fill", fills[span.use])
                .append("title").text(span.use + ": " + ms(span.to - span.from) + ", from " + ms(span.from));
        });
        this.drawSnapshots(d);
        this.drawMarks(d);
        this.axes.append("g").attr("class", "axis").attr("transform", "translate(0," + this.height + ")")
            .call(d3.svg.axis().scale(this.x).orient("bottom").ticks(8).tickFormat(ms));
        this.axes.append("text").attr("x", this.width / 2).attr("y", this.height + 38).attr("text-anchor", "middle")
            .text("time since the start of the job");
        this.axes.append("text").attr("class", "title").attr("y", 14).text("The time of the job");
        if (this.chosen >= 0) {
            var x = this.x(this.shown[this.chosen].at);
            this.axes.append("line").attr("class", "cursor").attr("x1", x).attr("x2", x).attr("y1", TOP - 6)
                .attr("y2", this.height);
        }
    };

    Figure.prototype.drawSnapshots = function (d) {
        var figure = this, saved = data.events.filter(function (event) { return event.what === "saved"; });
        var foot = this.height, y = d3.scale.linear().range([0, SIZES - 16])
            .domain([0, Math.max(1, d3.max(saved, function (event) { return event.bytes; }) || 1)]);
        this.axes.append("text").attr("class", "title").attr("y", TOP + HEIGHT + 18)
            .text(saved.length ? "Snapshots: size, up to " + page.bytes(y.domain()[1]) + "; dark on the bar: pauses" : "No snapshots");
        saved.forEach(function (event) {
            if (event.at < d[0] || event.at > d[1])
                return;
            var x = figure.x(event.at);
            figure.view.append("rect").attr("class", "snapshot").attr("x", x - 1).attr("width", 2).attr("fill", "#444")
                .attr("y", foot - y(event.bytes)).attr("height", Math.max(1, y(event.bytes)))
                .append("title").text(describe(event));
            figure.view.append("rect").attr("class", "pause").attr("x", x).attr("y", TOP).attr("height", HEIGHT)
                .attr("width", Math.max(1, figure.x(event.at + event.pause / MS) - x)).attr("fill", "#000");
        });
    };

    Figure.prototype.drawMarks = function (d) {
        var figure = this;
        data.events.forEach(function (event) {
            var mark = MARKS[event.what];
            if (!mark || event.at < d[0] || event.at > d[1])
                return;
            var place = figure.axes.append("g").attr("class", "mark " + event.what), x = figure.x(event.at);
            place.append("line").attr("x1", x).attr("x2", x).attr("y1", TOP - 8).attr("y2", TOP + HEIGHT);
            place.append("path").attr("transform", "translate(" + x + "," + (TOP - 14) + ")").attr("stroke", "#000")
                .style("stroke-dasharray", "none").attr("fill", mark[1]).attr("d", d3.svg.symbol().type(mark[0]).size(70));
            place.append("title").text(describe(event));
        });
    };

    Figure.prototype.legend = function () {
        var x = this.width + 16, place = this.frame.append("g"), y = TOP - 20;
        USES.forEach(function (use) {
            place.append("rect").attr("x", x).attr("y", y).attr("width", 13).attr("height", 13).attr("fill", use[1])
                .attr("stroke", "#333").attr("stroke-width", 0.5);
            place.append("text").attr("x", x + 20).attr("y", y + 11).text(use[0] === "start" ? "start, end" : use[0]);
            y += 20;
        });
        Object.keys(MARKS).forEach(function (kind) {
            place.append("path").attr("transform", "translate(" + (x + 6) + "," + (y + 6) + ")").attr("stroke", "#000")
                .attr("fill", MARKS[kind][1]).attr("d", d3.svg.symbol().type(MARKS[kind][0]).size(70));
            place.append("text").attr("x", x + 20).attr("y", y + 11).text(MARKS[kind][2]);
            y += 20;
        });
    };

    /* ---- Tables ---- */

    function section(parent, title, rows, columns, first) {
        if (rows.length === 0)
            return;
        add(parent, "h2", "", title);
        page.table(parent, title.toLowerCase(), columns, rows, first);
    }

    function tables(parent) {
        section(parent, "Faults, rollbacks, moves and restarts", data.events.filter(function (event) {
            return MARKS[event.what] || event.what === "back";
        }), [column("time", function (r) { return r.at; }, ms), column("what", describe, null, true)], 0);
        section(parent, "Snapshots", data.events.filter(function (event) { return event.what === "saved"; }), [
            column("time", function (r) { return r.at; }, ms),
            column("superstep", function (r) { return r.superstep; }, page.whole),
            column("size", function (r) { return r.bytes; }, page.bytes),
            column("pause", function (r) { return r.pause; }, page.time),
            column("committed after", function (r) { return r.commit; }, page.time)], 0);
        section(parent, "Processes", data.processes, [
            column("pid", function (r) { return -r.pid; }, function (v) { return String(-v); }),
            column("supersteps", function (r) { return r.supersteps; }, page.whole),
            column("computing", function (r) { return r.computing; }, page.time),
            column("waiting", function (r) { return r.waiting; }, page.time),
            column("communicating", function (r) { return r.communicating; }, page.time),
            column("processor time", function (r) { return r.cpu; }, page.time),
            column("bytes out", function (r) { return r.out; }, page.bytes),
            column("bytes in", function (r) { return r.in; }, page.bytes),
            column("largest h", function (r) { return r.h; }, page.bytes),
            column("memory", function (r) { return r.memory; }, page.bytes),
            column("lost", function (r) { return r.faults; }, page.whole)], 0);
        section(parent, "Hosts", data.hosts, [
            column("host", function (r) { return r.name; }, null, true),
            column("in the end", function (r) { return r.member ? "part of the job" : "no part of the job"; }, null, true)], 0);
        estimates(parent);
    }

    function estimates(parent) {
        var f = data.failures;
        if (!f || !f.known)
            return;
        section(parent, "What was learned of failures", f.kinds, [
            column("kind", function (r) { return r.kind; }, null, true),
            column("seen", function (r) { return r.seen; }, page.digits),
            column("in the time of all", function (r) { return r.watched; }, seconds),
            column("mean life of one", function (r) { return r.mean_life === null ? Infinity : r.mean_life; },
                function (v) { return isFinite(v) ? seconds(v) : "not known"; }),
            column("at least (5 %)", function (r) { return r.low || 0; }, seconds),
            column("at most (95 %)", function (r) { return r.high === null ? Infinity : r.high; },
                function (v) { return isFinite(v) ? seconds(v) : "not known"; })], 1);
        add(parent, "p", "soft", "Interval between snapshots: " + (f.interval === null ? "not by time" : seconds(f.interval)) +
            (f.why ? " (" + f.why + ")" : "") + ". A snapshot costs " + seconds(f.snapshot && f.snapshot.seconds) + ".");
    }

    /* ---- The page ---- */

    function main() {
        var all = data.useful + data.lost + data.down;
        add(page.root, "h1", "", data.command || "A job");
        add(page.root, "p", "soft", (data.job ? "Job " + data.job + ", " : "") + "status " + data.status +
            (data.earlier > 0 ? ". bsprun was started " + page.whole(data.earlier + 1) + " times; times are of the whole job, " +
                "processes and hosts are those of the last start." :
                data.restarted ? ". It went on from a snapshot by --restart: what was before that is not known." : "."));
        page.facts(page.root, [
            ["time", ms(data.time)], ["processes", page.whole(data.processes.length)], ["hosts", page.whole(data.hosts.length)],
            ["useful", ms(data.useful), page.percent(data.useful, all)], ["lost", ms(data.lost), page.percent(data.lost, all)],
            ["down", ms(data.down), page.percent(data.down, all)], ["faults", page.whole(data.faults)],
            ["snapshots", page.whole(data.snapshots), page.bytes(data.snapshot_bytes)], ["pauses", page.time(data.pauses)]
        ]);
        new Figure(page.root);
        add(page.root, "p", "keys").innerHTML = "Keys in the picture: <kbd>←</kbd> <kbd>→</kbd> from event to event, " +
            "<kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>Home</kbd> <kbd>End</kbd>, <kbd>0</kbd> all. Mouse: wheel zooms, drag moves.";
        if (data.dropped > 0)
            add(page.root, "p", "soft", page.whole(data.dropped) + " further events are not shown.");
        tables(page.root);
        document.body.setAttribute("data-drawn", "yes");
    }

    main();
}());
