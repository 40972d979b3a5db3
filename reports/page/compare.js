
// Two runs side by side: their first difference, their figures, then their charts.
(function () {
  "use strict";
  var element = vppdrill.element, target = document.getElementById("compared");
  if (!target) { return; }
  function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }
  var pair = [document.getElementById("left"), document.getElementById("right")];
  function name(run) { return run.querySelector("h3").lastChild.textContent.trim(); }
  function title(run) { return run.querySelector("h3").textContent.trim() + ", " + run.querySelector(".meta").textContent; }
  function choices() {
    var runs = all("section.run");
    pair.forEach(function (select) { runs.forEach(function (run) { element("option", { value: run.id, textContent: title(run) }, select); }); });
    var same = runs.slice(1).findIndex(function (run) { return name(run) === name(runs[0]); });
    pair[1].selectedIndex = Math.min(runs.length - 1, same < 0 ? 1 : same + 1);
  }
  function figures(run) {
    var out = {};
    all("dl.figures > div", run).forEach(function (d) { out[d.querySelector("dt").textContent] = d.querySelector("dd").textContent; });
    return out;
  }
  // states are what a story's looks saw, by time, as words for each node.
  function states(story) {
    var seen = {}, out = {};
    story.looks.forEach(function (l) {
      (l.nodes || []).forEach(function (n) { seen[n.name] = picture.words(n); });
      (l.gone || []).forEach(function (n) { delete seen[n]; });
      out[l.atSeconds.toFixed(6)] = Object.assign({}, seen);
    });
    return out;
  }
  // lookDifference is the first instant that both runs looked at and at which a node was not alike.
  function lookDifference(a, b) {
    var x = states(a), y = states(b), times = Object.keys(x).filter(function (t) { return t in y; }).sort(function (s, t) { return s - t; });
    for (var i = 0; i < times.length; i++) {
      var one = x[times[i]], other = y[times[i]], names = Object.keys(Object.assign({}, one, other)).sort(function (m, n) { return m.localeCompare(n, "en", { numeric: true }); });
      for (var j = 0; j < names.length; j++) {
        if (one[names[j]] !== other[names[j]]) {
          return { at: Number(times[i]), what: [one, other].map(function (s) { return s[names[j]] || names[j] + ": not a member"; }) };
        }
      }
    }
    return { equal: times.length };
  }
  // eventDifference is the first event that is not alike among those that both pages keep; null where they keep no common ones.
  function eventDifference(a, b) {
    if (!(a.events || []).length || !(b.events || []).length) { return null; }
    var from = Math.max(a.events[0].event, b.events[0].event), lines = [a, b].map(function (s) {
      var out = {};
      s.events.forEach(function (e) { out[e.event] = e; });
      return out;
    });
    var last = Math.max(a.events[a.events.length - 1].event, b.events[b.events.length - 1].event);
    for (var n = from; n <= last; n++) {
      var pair = lines.map(function (l) { return l[n]; });
      if (!pair[0] && !pair[1]) { return null; }
      if (!pair[0] || !pair[1] || pair[0].line !== pair[1].line || pair[0].atSeconds !== pair[1].atSeconds) {
        return { event: n, from: from, what: pair.map(function (e) { return e ? vppdrill.clock(e.atSeconds) + " " + e.line : "the run had ended"; }) };
      }
    }
    return { equal: last - from + 1 };
  }
  function sides(titles, parent) {
    var box = element("div", { className: "sides" }, parent);
    return titles.map(function (t) {
      var side = element("div", {}, box);
      element("h4", { textContent: t }, side);
      return side;
    });
  }
  function first(runs, stories, into) {
    element("h4", { textContent: "First difference" }, into);
    if (!stories[0] || !stories[1]) {
      element("p", { className: "note", textContent: "One of the two has no story on this page." }, into);
      return;
    }
    var event = eventDifference(stories[0], stories[1]), look = lookDifference(stories[0], stories[1]);
    if (event && event.what && event.from === 1) {
      element("p", { textContent: "Event " + event.event + " is the first that differs." }, into);
      sides(runs.map(name), into).forEach(function (side, i) { element("pre", { textContent: event.what[i] }, side); });
    } else if (event && event.equal) {
      element("p", { textContent: "All " + event.equal + " events that the page keeps of both are equal." }, into);
    }
    if (look.what) {
      element("p", { textContent: "At " + vppdrill.clock(look.at) + " the clusters differ for the first time, of the instants at which both runs were looked at." }, into);
      sides(runs.map(name), into).forEach(function (side, i) { element("p", { textContent: look.what[i] }, side); });
    } else {
      element("p", { textContent: look.equal ? "The clusters looked alike at all " + look.equal + " instants at which both runs were looked at." : "The runs were never looked at at the same instant." }, into);
    }
    if (!event || event.from > 1) { element("p", { className: "note", textContent: "The page keeps each run's last events only: vppdrill debug diff finds the first event that differs." }, into); }
  }
  function compare() {
    var runs = pair.map(function (s) { return document.getElementById(s.value); });
    Promise.all(runs.map(vppdrill.storyOf)).then(function (stories) {
      var values = runs.map(figures), names = Object.keys(Object.assign({}, values[0], values[1]));
      target.textContent = "";
      first(runs, stories, element("div", { id: "first-difference" }, target));
      element("h4", { textContent: "Figures" }, target);
      var table = element("table", { className: "plain" }, target), body = element("tbody", {}, table);
      names.forEach(function (n) {
        var tr = element("tr", {}, body), same = values[0][n] === values[1][n];
        element("th", { scope: "row", textContent: n }, tr);
        values.forEach(function (v) { element("td", { className: "n" + (same ? "" : " differs"), textContent: v[n] || "–" }, tr); });
      });
      sides(runs.map(title), target).forEach(function (side, i) {
        all(".trouble-box .what", runs[i]).forEach(function (p) { side.appendChild(p.cloneNode(true)); });
        all(".part", runs[i]).forEach(function (p) {
          if (!p.querySelector(".chart, .waits") || p.querySelector(".map")) { return; }
          var copy = p.cloneNode(true);
          all("[id], [tabindex], .zooms, .readout, details", copy).forEach(function (e) {
            if (e.matches(".zooms, .readout, details")) { e.remove(); } else { e.removeAttribute("id"); e.removeAttribute("tabindex"); }
          });
          side.appendChild(copy);
        });
      });
    });
  }
  pair.forEach(function (s) { s.addEventListener("change", compare); });
  document.getElementById("compare").addEventListener("toggle", function (e) {
    if (!e.target.open || target.firstChild) { return; }
    if (!pair[0].options.length) { choices(); }
    compare();
  });
})();
