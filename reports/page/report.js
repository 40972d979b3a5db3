// The page is complete without this. What follows only makes long reports quicker to walk: sort, filter, fold, copy,
// and one tab stop per chart with the arrow keys inside.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("script");
  function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }

  // Sorting. Each header's words become a button, so that Tab and Enter work.
  var table = document.getElementById("overview");
  if (table) {
    var heads = all("thead th", table), body = table.tBodies[0];
    heads.forEach(function (th, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      th.textContent = "";
      th.appendChild(button);
      button.addEventListener("click", function () {
        var down = th.getAttribute("aria-sort") === "ascending", number = th.dataset.sort === "number";
        heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        all("tr", body).map(function (tr) {
          var cell = tr.cells[column], text = cell.dataset.value || cell.textContent.trim();
          return { tr: tr, key: number ? Number(text) : text.toLowerCase() };
        }).sort(function (a, b) {
          var order = number ? a.key - b.key : a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
          return down ? -order : order;
        }).forEach(function (row) { body.appendChild(row.tr); });
      });
    });

    // Filtering hides rows and their sections together.
    var input = document.getElementById("filter"), shown = document.getElementById("shown"), verdict = "";
    var rows = all("tr", body), choices = all(".choices button");
    var apply = function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean), count = 0;
      rows.forEach(function (tr) {
        var text = tr.textContent.toLowerCase();
        var hit = (!verdict || tr.dataset.verdict === verdict) && words.every(function (w) { return text.indexOf(w) >= 0; });
        tr.hidden = !hit;
        if (hit) { count++; }
        var section = tr.dataset.run && document.getElementById(tr.dataset.run);
        if (section) { section.hidden = !hit; }
      });
      shown.textContent = count === rows.length ? "" : count + " of " + rows.length + " runs shown";
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
  function fold(open) { return function () { all(".run > details").forEach(function (d) { d.open = open; }); }; }
  var unfoldAll = document.getElementById("unfold"), foldAll = document.getElementById("fold");
  if (unfoldAll) { unfoldAll.addEventListener("click", fold(true)); foldAll.addEventListener("click", fold(false)); }
  function reveal() {
    var section = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    var listed = section && section.closest(".others");
    if (!section || !listed && !section.classList.contains("run")) { return; }
    section.hidden = false;
    (listed || section.querySelector("details")).open = true;
    // Not the summary: the key press that followed the link has its second half still to come, and would fold the run again.
    section.tabIndex = -1;
    section.focus({ preventScroll: true });
    section.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  var before = null;
  window.addEventListener("beforeprint", function () {
    before = all("details").filter(function (d) { return !d.open; });
    before.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () { (before || []).forEach(function (d) { d.open = false; }); });

  // Copying. Without the clipboard the command is selected, one key from being copied.
  all(".copy").forEach(function (button) {
    button.addEventListener("click", function () {
      var code = document.getElementById(button.dataset.copy), label = button.firstChild;
      function said(word) {
        label.textContent = word;
        setTimeout(function () { label.textContent = "Copy"; }, 2000);
      }
      function select() { getSelection().selectAllChildren(code); said("Selected"); }
      if (!navigator.clipboard) { select(); return; }
      navigator.clipboard.writeText(code.textContent).then(function () { said("Copied"); }, select);
    });
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
    function open() { if (d.open && !done) { done = true; charts(d); } }
    d.addEventListener("toggle", open);
    open();
  });
})();
