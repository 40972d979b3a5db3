package transcript

import (
	"fmt"
	"strings"

	"go.fd.io/govpp/api"
)

// Transcript is one conversation. Its requests were sent one after the other to a VPP that had just started.
type Transcript struct {
	// Name is the file's, without its folder and ending.
	Name string
	// Head are the comment lines before the first request, without "# ". The first one says which VPP it was and which
	// command recorded it.
	Head  []string
	Steps []Step
}

// Step is one request and what followed.
type Step struct {
	// Comment are the comment lines above it, without "# ".
	Comment []string
	// Request is as Text writes it; Answers and Events are canonical.
	Request         string
	Answers, Events []string
}

// String is the file.
func (t *Transcript) String() string {
	var b strings.Builder
	lines := func(mark string, ls []string) {
		for _, l := range ls {
			b.WriteString(strings.TrimRight(mark+" "+l, " ") + "\n")
		}
	}
	lines("#", t.Head)
	for _, s := range t.Steps {
		if len(s.Comment) > 0 {
			b.WriteString("\n")
			lines("#", s.Comment)
		}
		lines(">", []string{s.Request})
		lines("<", s.Answers)
		lines("!", s.Events)
	}
	return b.String()
}

// Read is the way back from String. Errors name the line.
func Read(name, text string) (*Transcript, error) {
	t := &Transcript{Name: name}
	var comment []string
	head := true // until the first blank line or request
	for n, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		bad := func(why string) error { return fmt.Errorf("%s:%d: %s", name, n+1, why) }
		switch mark {
		case "":
			head = head && len(t.Head) == 0
			if rest != "" {
				return nil, bad("begins with a space")
			}
		case "#":
			if head {
				t.Head = append(t.Head, rest)
			} else {
				comment = append(comment, rest)
			}
		case ">":
			head = false
			if _, err := Parse(rest); err != nil {
				return nil, bad(err.Error())
			}
			t.Steps = append(t.Steps, Step{Comment: comment, Request: rest})
			comment = nil
		case "<", "!":
			if len(t.Steps) == 0 || comment != nil {
				return nil, bad("no request before it")
			}
			last := &t.Steps[len(t.Steps)-1]
			if mark == "<" && len(last.Events) == 0 {
				last.Answers = append(last.Answers, rest)
			} else if mark == "!" {
				last.Events = append(last.Events, rest)
			} else {
				return nil, bad("an answer after an event")
			}
		default:
			return nil, bad(fmt.Sprintf("%q is none of #, >, <, !", mark))
		}
	}
	if comment != nil {
		return nil, fmt.Errorf("%s: comment behind the last request", name)
	}
	return t, nil
}

// Requests are the messages to send, in their order.
func (t *Transcript) Requests() ([]api.Message, error) {
	var out []api.Message
	for _, s := range t.Steps {
		m, err := Parse(s.Request)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		out = append(out, m)
	}
	return out, nil
}
