package agent

import (
	"iter"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// History is a stretch of a journal: records in their order, with those of the allocator, which nearly all are, side by
// side. It is read line by line and may be used again, for whoever waits for a long journal. The zero History is empty.
type History struct {
	ipam   []ipam.Record
	others []otherRecord
	reader ipam.RecordReader
}

// otherRecord is a record that is not the allocator's, behind so many that are.
type otherRecord struct {
	behind int
	record Record
}

// ipamPrefix is how a line of the allocator's begins.
var ipamPrefix = recordKinds[RecordIPAM] + " "

// Reset forgets all records. What was taken out of them, their texts, stays as it was.
func (h *History) Reset() { h.ipam, h.others = h.ipam[:0], h.others[:0] }

// Len is how many records there are.
func (h *History) Len() int { return len(h.ipam) + len(h.others) }

// Read adds the record that a line holds; it keeps nothing of the line, whose memory may be used again. The error is
// ParseRecord's, and nothing is added then.
func (h *History) Read(line string) error {
	if rest, ok := strings.CutPrefix(line, ipamPrefix); ok {
		n := len(h.ipam)
		if n == cap(h.ipam) {
			h.ipam = append(h.ipam, ipam.Record{})
		}
		h.ipam = h.ipam[:n+1]
		if h.reader.Read(&h.ipam[n], rest) == nil {
			return nil
		}
		h.ipam = h.ipam[:n]
	}
	r, err := ParseRecord(strings.Clone(line))
	if err == nil {
		h.others = append(h.others, otherRecord{len(h.ipam), r})
	}
	return err
}

// Runs yields records in their order: as many of the allocator's as follow each other, then one that is not, which is
// nil at the end. Both are the History's and valid until Reset.
func (h *History) Runs() iter.Seq2[[]ipam.Record, *Record] {
	return func(yield func([]ipam.Record, *Record) bool) {
		from := 0
		for i := range h.others {
			o := &h.others[i]
			if !yield(h.ipam[from:o.behind], &o.record) {
				return
			}
			from = o.behind
		}
		if from < len(h.ipam) {
			yield(h.ipam[from:], nil)
		}
	}
}

// AppendTo appends all records in their order.
func (h *History) AppendTo(records []Record) []Record {
	for run, other := range h.Runs() {
		for i := range run {
			records = append(records, Record{Kind: RecordIPAM, IPAM: run[i]})
		}
		if other != nil {
			records = append(records, *other)
		}
	}
	return records
}
