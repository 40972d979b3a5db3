package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam/audit"
)

// Goal: a finding is told once when it has stood long enough and once when it is gone; one that comes and goes within
// that time is not told at all, and another text is no other finding. Method: looks by hand.
func TestStanding(t *testing.T) {
	f := func(law, subject, text string) audit.Finding {
		return audit.Finding{Law: law, Severity: audit.Error, Subject: subject, Text: text}
	}
	twice, other := f(audit.LawDuplicate, "10.0.0.1", "two have it"), f(audit.LawDuplicate, "10.0.0.1", "two others have it")
	late := f(audit.LawLeak, "10.0.0.2", "CiliumNode a says it is used")
	var s audit.Standing
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, look := range []struct {
		at    int
		found []audit.Finding
		want  string
		told  int
	}{
		{0, []audit.Finding{twice}, "", 0},
		{2, nil, "", 0}, // it was no more than a moment
		{3, []audit.Finding{twice, late}, "", 0},
		{5, []audit.Finding{twice, late}, "", 0},
		{6, []audit.Finding{twice, late}, "came duplicate-address", 1},
		{7, []audit.Finding{other, late}, "", 1},
		{8, []audit.Finding{twice, other, late}, "", 1}, // a second one of the same address
		{18, []audit.Finding{twice, late}, "", 1},
		{19, []audit.Finding{twice, late}, "came leaked-address", 2},
		{20, []audit.Finding{late}, "gone duplicate-address", 1},
		{21, nil, "gone leaked-address", 0},
	} {
		var words []string
		for _, c := range s.Look(start.Add(time.Duration(look.at)*time.Second), look.found) {
			parts := strings.Fields(c.String())
			words = append(words, parts[1]+" "+strings.TrimSuffix(parts[3], ":"))
		}
		if got := strings.Join(words, ", "); got != look.want || len(s.Told()) != look.told {
			t.Errorf("after %d s: %q, %d stand; want %q, %d", look.at, got, len(s.Told()), look.want, look.told)
		}
	}
	if at := s.Next(); !at.IsZero() {
		t.Error(fmt.Sprint("waits until ", at))
	}
}
