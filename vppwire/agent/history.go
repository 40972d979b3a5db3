package agent

import (
	"iter"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// History is a stretch of a journal: records in their order, with those of the allocator, which nearly all are, side by side.
// It is read line by line and may be used again, for whoever waits for a long journal. The zero History is empty.
type History struct {
	books  []ipam.Record
	others []otherRecord
	reader ipam.RecordReader
}

// otherRecord is a record that is not the allocator's, behind so many that are.
type otherRecord struct {
	behind int
	record Record
}

// booksPrefix is how a line of the allocator's begins.
var booksPrefix = recordKinds[RecordIPAM] + " "

// Reset forgets all records. What was taken out of them, their texts, stays as it was.
func (h *History) Reset() { h.books, h.others = h.books[:0], h.others[:0] }

// Len is how many records there are.
func (h *History) Len() int { return len(h.books) + len(h.others) }

// Read adds the record that a line holds; it keeps nothing of the line, whose memory may be used again. The error is
// ParseRecord's, and nothing is added then.
func (h *History) Read(line string) error {
	if rest, ok := strings.CutPrefix(line, booksPrefix); ok {
		n := len(h.books)
		if n == cap(h.books) {
			h.books = append(h.books, ipam.Record{})
		}
		h.books = h.books[:n+1]
		if h.reader.Read(&h.books[n], rest) == nil {
			return nil
		}
		h.books = h.books[:n]
	}
	r, err := ParseRecord(strings.Clone(line))
	if err == nil {
		h.others = append(h.others, otherRecord{len(h.books), r})
	}
	return err
}

// Runs yields records in their order: as many of the allocator's as follow each other, then one that is not, which is nil at the
// end. Both are the History's and valid until Reset.
func (h *History) Runs() iter.Seq2[[]ipam.Record, *Record] {
	return func(yield func([]ipam.Record, *Record) bool) {
		from := 0
		for i := range h.others {
			o := &h.others[i]
			if !yield(h.books[from:o.behind], &o.record) {
				return
			}
			from = o.behind
		}
		if from < len(h.books) {
			yield(h.books[from:], nil)
		}
	}
}

// AppendTo appends all records in their order.
func (h *History) AppendTo(records []Record) []Record {
	for books, other := range h.Runs() {
		for i := range books {
			records = append(records, Record{Kind: RecordIPAM, IPAM: books[i]})
		}
		if other != nil {
			records = append(records, *other)
		}
	}
	return records
}
