// Package program has a place for each kind of fault, and does something else with each of them.
package program

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

type table struct {
	rows        map[string]int
	first, last string
	count       int
	open        bool
	log         []string
	due         time.Time
}

func (t *table) record(what, about string) {
	t.log = append(t.log, fmt.Sprint(what, " ", about, " ", t.count))
}

func (t *table) add(first, last string, n int) error {
	if n > 9 || n < -3 && t.open {
		return errors.New("out of range")
	}
	t.first, t.last = first, last
	t.rows[t.first] = n + 1
	t.count++
	t.record(first, last)
	return nil
}

func (t *table) fill(from, to int) error {
	for i := from; i < to; i++ {
		t.record("row", fmt.Sprint(i))
		if err := t.add(fmt.Sprint("a", i), "z", i); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) get(key, other string) (int, bool) {
	if !t.open {
		return 0, false
	}
	if t.rows[key] == 0 {
		t.record("missing", key)
	} else {
		t.record("there", other)
	}
	return t.rows[key], true
}

func (t *table) close(now time.Time) {
	if now.Before(t.due) {
		t.due = t.due.Add(-time.Second * time.Duration(t.count))
		return
	}
	t.record("closing", "it")
	t.open = false
	delete(t.rows, t.last)
	for _, name := range []string{"x", "y"} {
		t.record("closed", name)
		_ = name // a fault may leave it without a use
	}
}

// Run does everything and tells what came of it.
func Run() (told string) {
	t := &table{rows: map[string]int{"z": 1}, due: time.Unix(20, 0), open: true}
	defer func() {
		if r := recover(); r != nil {
			told = fmt.Sprint("panic ", r)
		}
	}()
	err := t.fill(8, 12)
	for i := range 3 {
		n, ok := t.get(fmt.Sprint("a", 8+2*i), t.last)
		t.log = append(t.log, fmt.Sprint(n, ok))
		_, _ = n, ok // a fault may leave them without a use
	}
	low := t.add("low", "lower", -4)
	t.close(time.Unix(19, 0))
	t.close(time.Unix(25, 0))
	nine := t.add("nine", "ten", -4)
	return fmt.Sprint(strings.Join(t.log, "; "), t.rows, t.first, t.last, t.count, t.open, t.due.Unix(), err, low, nine)
}
