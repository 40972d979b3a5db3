package journaltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// history is what the next life may read: what is certain, or one of several others that failures may have left.
type history struct {
	sure   []string
	others [][]string
}

// wrote: everything up to this write is safe.
func (h *history) wrote(e agent.Persist) { h.sure, h.others = after(h.sure, e), nil }

// may: a write failed or shared the fate of one, so that it may be there, if what shared that fate before it is.
func (h *history) may(e agent.Persist) {
	before := h.sure
	if n := len(h.others); n > 0 {
		before = h.others[n-1]
	}
	h.others = append(h.others, after(before, e))
}

// open: nobody was told what became of a write, which may have been refused beside others that were not.
func (h *history) open(e agent.Persist) {
	more := [][]string{after(h.sure, e)}
	if !e.Replace {
		for _, o := range h.others {
			more = append(more, after(o, e))
		}
	}
	h.others = append(h.others, more...)
}

func after(before []string, e agent.Persist) []string {
	if e.Replace {
		before = nil
	}
	list := slices.Clone(before)
	for i := range e.Records {
		list = append(list, e.Records[i].String())
	}
	return list
}

// read: a life has read this. An error where that cannot be.
func (h *history) read(records []agent.Record) error {
	got := after(nil, agent.Persist{Records: records})
	ok := slices.Equal(got, h.sure)
	for _, o := range h.others {
		ok = ok || slices.Equal(got, o)
	}
	if !ok {
		return fmt.Errorf("read %s\nsafe is %s\nfailures may have left %s", list(got), list(h.sure), list(h.others...))
	}
	h.sure, h.others = got, nil
	return nil
}

// list is histories by their records' last words.
func list(histories ...[]string) string {
	var all []string
	for _, h := range histories {
		var words []string
		for _, line := range h {
			words = append(words, line[strings.LastIndexByte(line, ' ')+1:])
		}
		all = append(all, "["+strings.Join(words, " ")+"]")
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, " ")
}
