// The page is complete without this. What follows only makes long reports quicker to walk: sort, filter, fold, copy,
// and one tab stop per chart with the arrow keys inside.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("script");
  function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }

  // What a fold hides stands as text in a noscript element until somebody opens the fold: a page may have hundreds.
  function fill(fold) {
    all(":scope > noscript", fold).forEach(function (n) {
      var inside = document.createElement("template");
      inside.innerHTML = n.textContent;
      n.replaceWith(inside.content);
    });
  }
  function element(name, properties, parent) {
    var e = document.createElement(name);
    Object.keys(properties || {}).forEach(function (k) { if (k in e) { e[k] = properties[k]; } else { e.setAttribute(k, properties[k]); } });
    if (parent) { parent.appendChild(e); }
    return e;
  }
  window.vppdrill = { fill: fill, element: element };
  document.addEventListener("toggle", function (e) { if (e.target.open) { fill(e.target); } }, true);
  document.addEventListener("click", function (e) {
    var summary = e.target.closest && e.target.closest("summary");
    if (summary) { fill(summary.parentNode); }
  });

  // Sorting: ascending, descending, and by topic again. Each header's words become a button, so that Tab and Enter work.
  var table = document.getElementById("overview");
  if (table) {
    var heads = all("thead th", table), body = table.tBodies[0], inOrder = all("tr", body);
    var press = function (th) {
      var button = document.createElement("button");
      button.type = "button";
      while (th.firstChild) { button.appendChild(th.firstChild); }
      th.appendChild(button);
      return button;
    };
    heads.forEach(function (th, column) {
      press(th).addEventListener("click", function () {
        var was = th.getAttribute("aria-sort"), down = was === "ascending", number = th.dataset.sort === "number";
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        table.classList.toggle("sorted", was !== "descending");
        if (was === "descending") {
          inOrder.forEach(function (tr) { body.appendChild(tr); });
          return;
        }
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        rows.map(function (tr) {
          var cell = tr.cells[column], text = cell.dataset.value || cell.textContent.trim();
          return { tr: tr, key: number ? Number(text) : text.toLowerCase() };
        }).sort(function (a, b) {
          var order = number ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
          return down ? -order : order;
        }).forEach(function (row) { body.appendChild(row.tr); });
      });
    });
    var rows = inOrder.filter(function (tr) { return tr.classList.contains("scenario"); }), topics = [];
    inOrder.forEach(function (tr) {
      if (tr.classList.contains("topic")) { topics.push({ tr: tr, rows: [] }); } else if (topics.length) { topics[topics.length - 1].rows.push(tr); }
    });
    topics.forEach(function (t) {
      var button = press(t.tr.cells[0]);
      var show = function (open) {
        button.setAttribute("aria-expanded", String(open));
        t.rows.forEach(function (tr) { tr.classList.toggle("folded", !open); });
      };
      button.setAttribute("aria-expanded", String(!("folded" in t.tr.dataset)));
      button.addEventListener("click", function () { show(button.getAttribute("aria-expanded") === "false"); });
    });

    // Filtering hides rows and their sections together.
    var input = document.getElementById("filter"), shown = document.getElementById("shown"), verdict = "", texts = null;
    var choices = all(".choices button");
    var apply = function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0, of = 0;
      texts = texts || rows.map(function (tr) { return tr.textContent.replace(/<[^>]*>/g, " ").toLowerCase(); });
      rows.forEach(function (tr, i) {
        var hit = words.every(function (w) { return texts[i].indexOf(w) >= 0; }), runs = 0;
        ["pass", "fail", "error"].forEach(function (v) {
          var n = Number(tr.dataset[v]);
          of += n;
          if (!verdict || verdict === v) { runs += n; }
        });
        hit = hit && runs > 0;
        tr.hidden = !hit;
        if (hit) { count += runs; }
        tr.dataset.runs.split(" ").forEach(function (id) {
          var section = id && document.getElementById(id);
          if (section) { section.hidden = !hit || verdict && section.dataset.verdict && section.dataset.verdict !== verdict; }
        });
      });
      topics.forEach(function (t) { t.tr.hidden = t.rows.every(function (tr) { return tr.hidden; }); });
      table.classList.toggle("filtered", count !== of);
      shown.textContent = count === of ? "" : count + " of " + of + " runs shown";
    };
    input.addEventListener("input", apply);
    choices.forEach(function (b) {
      b.addEventListener("click", function () {
        verdict = b.dataset.verdict;
        choices.forEach(function (c) { c.setAttribute("aria-pressed", String(c === b)); });
        apply();
      });
    });
  }

  // Folding.
  function fold(open) { return function () { all(".run > details").forEach(function (d) { if (open) { fill(d); } d.open = open; }); }; }
  var unfoldAll = document.getElementById("unfold"), foldAll = document.getElementById("fold");
  if (unfoldAll) { unfoldAll.addEventListener("click", fold(true)); foldAll.addEventListener("click", fold(false)); }
  function reveal() {
    var id = location.hash && decodeURIComponent(location.hash.slice(1)), at = id && document.getElementById(id);
    if (id && !at) { // it may be within a fold that nobody has opened
      all("details > noscript").some(function (n) {
        if (n.textContent.indexOf('id="' + id + '"') < 0) { return false; }
        fill(n.parentNode);
        return !!(at = document.getElementById(id));
      });
    }
    if (!at || !at.closest(".run, .others")) { return; }
    at.hidden = false;
    if (at.classList.contains("run")) { fill(at.querySelector("details")); at.querySelector("details").open = true; }
    for (var up = at.closest("details"); up; up = up.parentNode.closest("details")) { up.open = true; }
    // Not the summary: the key press that followed the link has its second half still to come, and would fold the run again.
    at.tabIndex = -1;
    at.focus({ preventScroll: true });
    at.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  var before = null;
  window.addEventListener("beforeprint", function () {
    all("details").forEach(fill);
    before = all("details").filter(function (d) { return !d.open; });
    before.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { (before || []).forEach(function (d) { d.open = false; }); });

  // Copying. Without the clipboard the command is selected, one key from being copied.
  document.addEventListener("click", function (e) {
    var button = e.target.closest && e.target.closest(".copy");
    if (!button) { return; }
    var code = document.getElementById(button.dataset.copy), label = button.firstChild;
    function said(word) {
      label.textContent = word;
      setTimeout(function () { label.textContent = "Copy"; }, 2000);
    }
    function select() { getSelection().selectAllChildren(code); said("Selected"); }
    if (!navigator.clipboard) { select(); return; }
    navigator.clipboard.writeText(code.textContent).then(function () { said("Copied"); }, select);
  });

  // Charts: one tab stop each, arrow keys inside, and the words of the mark in hand below.
  function charts(run) { all(".chart .plot", run).forEach(function (plot) {
    var marks = all(".mark", plot), readout = plot.closest(".chart").nextElementSibling;
    if (marks.length && marks[0].dataset.order) {
      marks.sort(function (a, b) { return a.dataset.order - b.dataset.order; });
    }
    var hint = marks.length > 1 ? "Point at a mark, or focus the chart and use the arrow keys." : "Point at the mark, or focus it.";
    readout.textContent = hint;
    marks.forEach(function (m, i) {
      m.setAttribute("tabindex", i === 0 ? "0" : "-1");
      function say() { readout.textContent = m.getAttribute("aria-label"); }
      m.addEventListener("focus", say);
      m.addEventListener("mouseenter", say);
      m.addEventListener("blur", function () { readout.textContent = hint; });
      m.addEventListener("mouseleave", function () { readout.textContent = hint; });
      m.addEventListener("keydown", function (e) {
        var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        var to = step ? i + step : e.key === "Home" ? 0 : e.key === "End" ? marks.length - 1 : -1;
        if (to < 0 || to >= marks.length) { return; }
        e.preventDefault();
        m.setAttribute("tabindex", "-1");
        marks[to].setAttribute("tabindex", "0");
        marks[to].focus();
      });
    });
  }); }
  // A folded run's charts are left alone until somebody unfolds it: there are hundreds.
  all(".run > details").forEach(function (d) {
    var done = false;
    function open() { if (d.open && !done) { done = true; fill(d); charts(d); } }
    d.addEventListener("toggle", open);
    open();
  });
})();
