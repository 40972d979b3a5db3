package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// monthOfRows is as many rows as a month of a real cluster of 9,000 pods holds.
func monthOfRows() string {
	var b strings.Builder
	for i := range 24_000 {
		fmt.Fprintf(&b, "instance-%d app-%d-hn %d.5 %d 4\n", i, i%156, i*100, i*100+90_000)
	}
	return b.String()
}

// Goal: what parseRows accepts, AppendText writes so that it comes back equal.
func FuzzRows(f *testing.F) {
	f.Add("a web - 10.25 4\n\nb web 10.250 - -\n")
	f.Add("a web 0 10 -\r\n  b web 5 5 65535")
	f.Add("a web 0 1.000000001 -")
	f.Fuzz(func(t *testing.T, text string) {
		rows, inputErr := parseRows(text)
		if inputErr != nil {
			if lines := strings.Count(text, "\n") + 1; inputErr.Line < 1 || inputErr.Line > lines || inputErr.Column < 1 {
				t.Fatalf("place %d:%d in %d lines", inputErr.Line, inputErr.Column, lines)
			}
			return
		}
		var out []byte
		for _, pod := range rows {
			out = append(pod.AppendText(out), '\n')
		}
		again, inputErr := parseRows(string(out))
		if inputErr != nil || !slices.Equal(again, rows) {
			t.Fatalf("%q became %q, which reads as %v, %v", text, out, again, inputErr)
		}
	})
}

func BenchmarkRows(b *testing.B) {
	text := monthOfRows()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := parseRows(text); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(24_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkParseTrace is the whole way from a file with a month of rows.
func BenchmarkParseTrace(b *testing.B) {
	rows, inputErr := parseRows(monthOfRows())
	if inputErr != nil {
		b.Fatal(inputErr)
	}
	s := Default()
	s.Name, s.Workload = "month", Workload{Format: workloadFormat, Rows: rows}
	data := s.Marshal()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse("month.yaml", data); err != nil {
			b.Fatal(err)
		}
	}
}
