package gen

import (
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios"
)

// watches are the kinds of news: of the store and of the API server to agents, and of the API server to everybody else.
var watches = [...]string{"store-watch", "api-watch", "control-watch"}

// drawNews draws how news come that no single fault disturbs: in one of three runs the changes of some kinds each take a time of their own, so
// that watches overtake each other and answers overtake them all, or one of them is lost or comes twice.
func (d drawer) drawNews(f *scenarios.Faults) {
	if !d.coin("news out of order", 3) {
		return
	}
	for _, kind := range watches {
		if d.coin(kind+" late", 2) {
			f.Inject = append(f.Inject, "(Kind "+kind+" (Jitter 1ms "+one(d, "late by", "300ms", "3s", "20s")+"))")
		}
		if d.coin(kind+" disturbed", 4) {
			f.Inject = append(f.Inject, "(Nth "+strconv.Itoa(1+d.c.Pick("which news", 40))+" (Kind "+kind+" "+one(d, "what becomes of it", "Vanish", "Duplicate")+"))")
		}
	}
}

// drawLists has the API server answer those who list from its cache with what was so a while ago, in one of three runs.
func (d drawer) drawLists(f *scenarios.Faults) {
	if !d.coin("old lists", 3) {
		return
	}
	f.Inject = append(f.Inject, "(Kind control-list (Jitter 1ms "+one(d, "old by", "3s", "20s", "2m")+"))")
	if d.coin("lists refused", 4) {
		f.Inject = append(f.Inject, "(Kind control-list (Prob 0.2 (Refuse 0)))")
	}
}
