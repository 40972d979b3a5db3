package vppwire_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/vppdrill/vppdrill/vppwire"
)

// cast are the objects of one kind's story, from its file's first command.
type cast struct {
	// needs is what the object stands on, it the object, other another version of it (empty: there is none), its another
	// object under the same key, and dependents what stands on the object.
	needs, it, other, dependents []vppwire.Object
}

// scene is a session on a machine of its own, with every call written down.
type scene struct {
	*rig
	t     *testing.T
	story *strings.Builder
	// dumps counts dumps since the last line; fates are what becomes of the next calls that write.
	dumps int
	fates []outcome
}

func (c cast) all(more ...[]vppwire.Object) (out []vppwire.Object) {
	out = append(out, c.needs...)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

func newScene(t *testing.T, c cast) *scene {
	s := &scene{rig: newRig(t), t: t, story: &strings.Builder{}}
	for _, path := range netnsOf(c) {
		if err := s.host.CreateNamespace(path); err != nil {
			t.Fatal(err)
		}
	}
	s.s.AllowDelete()
	return s
}

// netnsOf are the namespaces that objects name.
func netnsOf(c cast) (paths []string) {
	seen := map[string]bool{"": true}
	for _, o := range c.all(c.it, c.other, c.dependents) {
		path := o.Key().Netns
		switch o := o.(type) {
		case vppwire.Veth:
			path = o.PeerNetns
		case vppwire.Tap:
			path = o.Netns
		}
		if !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}

func (s *scene) say(format string, args ...any) {
	if s.dumps > 0 {
		fmt.Fprintf(s.story, "(%d dumps)\n", s.dumps)
		s.dumps = 0
	}
	if format != "" {
		fmt.Fprintf(s.story, format+"\n", args...)
	}
}

// play performs calls until the session is quiet, before at most stop calls that write; -1 for all.
func (s *scene) play(stop int) {
	for range 1000 {
		if stop == 0 {
			break
		}
		c, ok := s.s.Next(s.now)
		if !ok {
			at, waiting := s.s.WakeAt()
			if !waiting {
				break
			}
			s.say("… %s", at.Sub(s.now))
			s.now = at
			continue
		}
		if !c.Writes() {
			s.dumps++
			s.do(c, done)
			continue
		}
		stop--
		fate, line := done, c.String()
		if len(s.fates) > 0 {
			fate, s.fates = s.fates[0], s.fates[1:]
		}
		s.log = s.log[:0]
		s.do(c, fate)
		said := map[outcome]string{vanished: "  -> no answer (not performed)", muted: "  -> no answer (performed)", refused: "  -> refused"}[fate]
		for _, refusal := range s.log { // by VPP or Linux itself
			said += refusal
		}
		s.say("%s%s", line, said)
	}
	s.say("")
}

// end checks that the node is as wanted, and that nothing more than that is there.
func (s *scene) end() string {
	s.rig.settled()
	return s.story.String()
}

// there makes objects by a session of their own, which then forgets them.
func (s *scene) there(objects []vppwire.Object) {
	r := *s.rig
	r.s = vppwire.NewSession()
	r.s.Set("there", objects)
	r.s.Connect(r.pid)
	r.run(1000, ok)
	if !r.s.Idle() {
		s.t.Fatalf("%s", r.s.Pending())
	}
	s.now = r.now
	s.s = vppwire.NewSession()
	s.s.AllowDelete()
	s.s.Connect(s.pid)
}

// scenes are what every kind of object goes through.
var scenes = map[string]func(*scene, cast){
	// From nothing.
	"created": func(s *scene, c cast) {
		s.set("g", c.all(c.it, c.dependents))
		s.play(-1)
	},
	// A new session finds everything: dumps tell it that there is nothing to do.
	"present": func(s *scene, c cast) {
		s.there(c.all(c.it, c.dependents))
		s.set("g", c.all(c.it, c.dependents))
		s.play(-1)
	},
	// A new session finds another version, with what stands on it.
	"different": func(s *scene, c cast) {
		s.there(c.all(c.other, c.dependents))
		s.set("g", c.all(c.it, c.dependents))
		s.play(-1)
	},
	// The session that made it is asked for another version.
	"changed": func(s *scene, c cast) {
		s.set("g", c.all(c.it, c.dependents))
		s.run(1000, ok)
		s.set("g", c.all(c.other, c.dependents))
		s.play(-1)
	},
	// Its creation is refused once.
	"refused": func(s *scene, c cast) {
		s.set("g", c.needs)
		s.run(1000, ok)
		s.set("g", c.all(c.it))
		s.fates = []outcome{refused}
		s.play(-1)
	},
	// The answer to its creation is lost, which was performed.
	"reply-lost": func(s *scene, c cast) {
		s.set("g", c.needs)
		s.run(1000, ok)
		s.set("g", c.all(c.it))
		s.fates = []outcome{muted}
		s.play(-1)
	},
	// The request is lost, and then the answer.
	"request-lost": func(s *scene, c cast) {
		s.set("g", c.needs)
		s.run(1000, ok)
		s.set("g", c.all(c.it))
		s.fates = []outcome{vanished, muted}
		s.play(-1)
	},
	// VPP dies right behind the first call for the object, while another is outstanding.
	"restarted": func(s *scene, c cast) {
		s.set("g", c.needs)
		s.run(1000, ok)
		s.set("g", c.all(c.it, c.dependents))
		s.play(1)
		if call, more := s.s.Next(s.now); more {
			s.say("%s  -> VPP dies", call.String())
		} else {
			s.say("VPP dies")
		}
		s.killVPP()
		s.startVPP()
		s.play(-1)
	},
	// Nobody wants it any more, nor what stands on it; what it stands on stays.
	"deleted": func(s *scene, c cast) {
		s.set("g", c.all(c.it, c.dependents))
		s.run(1000, ok)
		s.set("g", c.needs)
		s.play(-1)
	},
	// The answer to its deletion is lost, which was performed.
	"delete-lost": func(s *scene, c cast) {
		s.set("g", c.all(c.it))
		s.run(1000, ok)
		s.set("g", c.needs)
		s.fates = []outcome{muted}
		s.play(-1)
	},
	// It goes, and what it stands on with it, found by a session that never wanted any of it.
	"unwanted": func(s *scene, c cast) {
		s.there(c.all(c.it, c.dependents))
		for _, o := range c.all(c.it, c.dependents) { // what is rare nobody looks for who is not told
			s.s.Expect(o.Key().Kind)
		}
		s.play(-1)
	},
}

// Goal: each kind of object lives through everything that can happen to it, by calls in an order that can be read.
// Method: a story per kind on the modelled VPP and Linux; each scene has a machine of its own and ends with a look by a
// session that knows nothing, which must find nothing to do. A dump is only counted.
func TestStories(t *testing.T) {
	told := map[vppwire.Kind]bool{}
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		var c cast
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "objects" {
				var err error
				if c, err = readCast(d.Input); err != nil {
					t.Fatal(err)
				}
				if got := c.it[0].Key().Kind; got.String() != filepath.Base(path) {
					t.Errorf("%s tells of a %s", path, got)
				}
				told[c.it[0].Key().Kind] = true
				return ""
			}
			play := scenes[d.Cmd]
			if play == nil {
				t.Fatalf("unknown scene %s", d.Cmd)
			}
			s := newScene(t, c)
			play(s, c)
			return s.end()
		})
	})
	for k := vppwire.Kind(1); !strings.HasPrefix(k.String(), "kind("); k++ {
		if !told[k] {
			t.Errorf("testdata/stories/%s is missing", k)
		}
	}
}

// readCast reads "needs", "it", "other" and "dependents", each with lines of objects below.
func readCast(text string) (c cast, err error) {
	parts := map[string]*[]vppwire.Object{"needs": &c.needs, "it": &c.it, "other": &c.other, "dependents": &c.dependents}
	var part *[]vppwire.Object
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if next := parts[line]; next != nil {
			part = next
			continue
		}
		o, err := vppwire.ParseObject(line)
		if err != nil {
			return c, err
		}
		*part = append(*part, o)
	}
	if len(c.it) != 1 {
		return c, errors.New("a story has one object")
	}
	return c, nil
}
