package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// table reads a CSV file with a header line, column by name.
type table struct {
	file    string
	reader  *csv.Reader
	columns map[string]int
	record  []string
}

// newTable reads the header, which must hold every wanted column; others are ignored.
func newTable(r io.Reader, file string, wanted ...string) (*table, error) {
	t := &table{file: file, reader: csv.NewReader(r), columns: map[string]int{}}
	t.reader.ReuseRecord = true
	header, err := t.reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, &scenarios.InputError{File: file, Line: 1, Column: 1, Message: "the file is empty; its first line names the columns"}
	}
	if err != nil {
		return nil, t.csvError(err)
	}
	names := make([]string, len(header))
	for i, name := range header {
		name = strings.TrimPrefix(name, "\ufeff")
		names[i] = name
		if _, twice := t.columns[name]; twice {
			return nil, t.fail(i, strconv.Quote(name), "is a column already")
		}
		t.columns[name] = i
	}
	for _, name := range wanted {
		if _, ok := t.columns[name]; !ok {
			return nil, &scenarios.InputError{File: file, Line: 1, Column: 1, Field: name,
				Message: "the header has no such column", Nearest: strictyaml.Nearest(name, names)}
		}
	}
	return t, nil
}

// next moves to the next row; false at the end.
func (t *table) next() (bool, error) {
	record, err := t.reader.Read()
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, t.csvError(err)
	}
	t.record = record
	return true, nil
}

// csvError keeps the place of a syntax error.
func (t *table) csvError(err error) error {
	var syntax *csv.ParseError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("read %s: %w", t.file, err)
	}
	message := "not CSV: " + syntax.Err.Error()
	if errors.Is(syntax.Err, csv.ErrFieldCount) {
		message = "the row has another number of columns than the header"
	}
	return &scenarios.InputError{File: t.file, Line: syntax.Line, Column: max(1, syntax.Column), Message: message}
}

// text is the row's value in a column.
func (t *table) text(column string) string { return t.record[t.columns[column]] }

// wrong makes the error for the row's value in a column.
func (t *table) wrong(column, message string) error {
	i := t.columns[column]
	return t.failField(column, i, strconv.Quote(t.record[i])+" "+message)
}

func (t *table) fail(i int, value, message string) error {
	return t.failField("", i, value+" "+message)
}

func (t *table) failField(field string, i int, message string) error {
	line, column := t.reader.FieldPos(i)
	return &scenarios.InputError{File: t.file, Line: line, Column: column, Field: field, Message: message}
}

// secondsMax is 100 years: more is a mistake in units (milliseconds since 1970, say), and far from overflow.
const secondsMax = 100 * 365 * 24 * 3600

// seconds reads a time; absent is what an empty value means. Traces hold sums of binary fractions such as
// 475.00000000000006, so times are rounded to milliseconds.
func (t *table) seconds(column string, absent time.Duration) (time.Duration, error) {
	text := t.text(column)
	if text == "" {
		return absent, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(f) || strings.ContainsAny(text, "xX_"):
		return 0, t.wrong(column, "is not a time in seconds")
	case f < 0:
		return 0, t.wrong(column, "is negative")
	case f > secondsMax:
		return 0, t.wrong(column, "is more than 100 years")
	}
	return time.Duration(math.Round(f*1000)) * time.Millisecond, nil
}

// whole reads a whole number of at least low and at most high.
func (t *table) whole(column string, low, high int) (int, error) {
	n, err := strconv.Atoi(t.text(column))
	if err != nil {
		return 0, t.wrong(column, "is not a whole number")
	}
	if n < low || n > high {
		return 0, t.wrong(column, fmt.Sprintf("is not between %d and %d", low, high))
	}
	return n, nil
}

// word reads a name and makes it one that Kubernetes takes: lower case, hyphens for underscores.
func (t *table) word(column string) (string, error) {
	text := t.text(column)
	name := strings.ReplaceAll(strings.ToLower(text), "_", "-")
	if !scenarios.IsName(name) || len(name) > nameMax {
		return "", t.wrong(column, "is not a name of letters, digits, hyphens and dots")
	}
	return name, nil
}

// nameMax leaves room for the suffix of a repeated pod within the 63 characters of a Kubernetes name.
const nameMax = 48
