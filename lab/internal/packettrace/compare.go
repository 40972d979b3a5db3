package packettrace

// Row is one line of two ways side by side.
type Row struct {
	// Foretold and Seen are nil where the one way has nothing there.
	Foretold *Hop `json:"foretold,omitempty"`
	Seen     *Hop `json:"seen,omitempty"`
	// Same: both say the same. Differs: this is the first row where they do not.
	Same    bool `json:"same,omitempty"`
	Differs bool `json:"differs,omitempty"`
	// Missed: it was foretold and was not seen behind the row that differs.
	Missed bool `json:"missed,omitempty"`
}

// Mark is the sign of what was foretold, for people.
func (r Row) Mark() string {
	switch {
	case r.Same:
		return "="
	case r.Differs:
		return "x"
	case r.Missed:
		return "-"
	}
	return " "
}

// Compare lays a way that was foretold beside what was seen, up to the first hop that differs; behind it each goes its own
// way. Hops that VPP's tracer does not show stand alone. It returns the number of the row that differs, or -1.
func Compare(foretold, seen []Hop) (rows []Row, differs int) {
	differs = -1
	f, s := 0, 0
	for f < len(foretold) || s < len(seen) {
		switch {
		case f < len(foretold) && foretold[f].blind:
			rows = append(rows, Row{Foretold: &foretold[f]})
			f++
		case differs >= 0 && f < len(foretold):
			rows = append(rows, Row{Foretold: &foretold[f], Missed: true})
			f++
		case differs >= 0:
			rows = append(rows, Row{Seen: &seen[s]})
			s++
		default:
			r := Row{}
			if f < len(foretold) {
				r.Foretold = &foretold[f]
				f++
			}
			if s < len(seen) {
				r.Seen = &seen[s]
				s++
			}
			if r.Same = r.Foretold != nil && r.Seen != nil && r.Foretold.same(*r.Seen); !r.Same {
				r.Differs, differs = true, len(rows)
			}
			rows = append(rows, r)
		}
	}
	return rows, differs
}
