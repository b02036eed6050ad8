/* page.js - what the scripts of all pages share: the data, texts for people, tables that sort. */
"use strict";
var page = (function () {
    var root = document.getElementById("page");

    /* An element with a class and text, below `parent`. */
    function add(parent, name, kind, text) {
        var element = document.createElement(name);
        if (kind)
            element.className = kind;
        if (text !== undefined)
            element.textContent = text;
        parent.appendChild(element);
        return element;
    }

    function digits(value) {
        return value === 0 ? "0" : String(Number(value.toPrecision(value >= 1000 ? 4 : 3)));
    }

    /* Nanoseconds, with their unit. */
    function time(ns) {
        var size = Math.abs(ns);
        if (size === 0)
            return "0 s";
        if (size < 1e3)
            return digits(ns) + " ns";
        if (size < 1e6)
            return digits(ns / 1e3) + " µs";
        if (size < 1e9)
            return digits(ns / 1e6) + " ms";
        if (size < 600e9)
            return digits(ns / 1e9) + " s";
        if (size < 4 * 3600e9)
            return digits(ns / 60e9) + " min";
        return size < 48 * 3600e9 ? digits(ns / 3600e9) + " h" : digits(ns / 86400e9) + " d";
    }

    function bytes(count) {
        var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], unit = 0;
        while (count >= 1000 && unit + 1 < units.length) {
            count /= 1024;
            unit++;
        }
        return digits(count) + " " + units[unit];
    }

    function whole(count) {
        return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    }

    function percent(part, all) {
        return all > 0 ? (100 * part / all).toFixed(1) + " %" : "–";
    }

    /* Facts: pairs of what it is and what it is called, a third one is a note. */
    function facts(parent, list) {
        var place = add(parent, "dl", "facts");
        list.forEach(function (fact) {
            var one = add(place, "div");
            add(one, "dt", "", fact[0]);
            var value = add(one, "dd", "", fact[1]);
            if (fact[2])
                add(value, "small", "", " " + fact[2]);
        });
    }

    /* A table of `rows`.  A column: name, value(row) to sort by, show(row) or text: true.  Its headings
     * are buttons that sort; `chosen(row)` is called for a row by a click or Enter. */
    function table(parent, label, columns, rows, first, chosen) {
        var wrap = add(parent, "div", "wrap"), place = add(wrap, "table"), by = first, up = false;
        var heads = add(add(place, "thead"), "tr"), body = add(place, "tbody");
        wrap.tabIndex = 0;
        wrap.setAttribute("role", "region");
        wrap.setAttribute("aria-label", label);
        add(place, "caption", "soft", label).style.display = "none";

        function fill() {
            var column = columns[by];
            var sorted = rows.slice().sort(function (a, b) {
                var x = column.value(a), y = column.value(b), order = x < y ? -1 : x > y ? 1 : 0;
                return up ? order : -order;
            });
            body.textContent = "";
            sorted.forEach(function (row) {
                var line = add(body, "tr");
                columns.forEach(function (one) {
                    var text = one.show ? one.show(row) : String(one.value(row));
                    var cell = add(line, "td", one.text ? "text" : "", text);
                    if (one.text)
                        cell.title = text;
                });
                if (chosen) {
                    line.tabIndex = 0;
                    line.addEventListener("click", function () { chosen(row); });
                    line.addEventListener("keydown", function (event) {
                        if (event.key === "Enter")
                            chosen(row);
                    });
                }
            });
            Array.prototype.forEach.call(heads.children, function (head, i) {
                head.setAttribute("aria-sort", i !== by ? "none" : up ? "ascending" : "descending");
                head.firstChild.textContent = columns[i].name + (i !== by ? "" : up ? " ▲" : " ▼");
            });
        }

        columns.forEach(function (column, i) {
            var head = add(heads, "th", column.text ? "text" : "");
            head.scope = "col";
            add(head, "button", "", column.name).addEventListener("click", function () {
                up = i === by ? !up : !!column.text;
                by = i;
                fill();
            });
        });
        fill();
        return function (name) {
            columns.forEach(function (column, i) {
                if (column.name === name) {
                    by = i;
                    up = !!column.text;
                }
            });
            fill();
        };
    }

    root.textContent = "";
    return {
        root: root, data: JSON.parse(document.getElementById("data").textContent), add: add, time: time,
        bytes: bytes, whole: whole, percent: percent, facts: facts, table: table, digits: digits
    };
}());
