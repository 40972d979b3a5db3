package cluster

import (
	"slices"
	"strconv"
)

func (a *API) armBookmark() {
	if !a.bookmark {
		a.bookmark = true
		a.clock.After(a.cfg.BookmarkEvery, (*bookmarks)(a))
	}
}

// bookmarks is the event that reports the present version to idle watches.
type bookmarks API

func (a *bookmarks) AppendText(b []byte) []byte {
	b = append(b, "api bookmarks rv "...)
	return strconv.AppendInt(b, a.version, 10)
}

func (a *bookmarks) Fire() {
	a.bookmark = false
	if a.down || a.watched == a.version {
		return
	}
	a.watched = a.version
	for k := KindNode; k < kindEnd; k++ {
		for _, w := range slices.Clone(a.kinds[k].open) {
			if w.sent < a.version {
				w.sent = a.version
				w.stream.slip(Change{Type: Bookmark, ResourceVersion: a.version})
			}
		}
	}
}
