package systemtest

import (
	"embed"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed stories
var files embed.FS

// Stories are those of a system, by name.
func Stories(system string) (map[string]string, error) {
	folder := path.Join("stories", system)
	list, err := files.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("no stories of %s: %w", system, err)
	}
	stories := make(map[string]string, len(list))
	for _, f := range list {
		text, err := files.ReadFile(path.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		stories[strings.TrimSuffix(f.Name(), ".txt")] = string(text)
	}
	return stories, nil
}

// Play plays a story on the cluster that begin makes. Its error is the first state that is not the story's, or a line
// that makes no sense.
func Play(story string, begin func(Setup) Cluster) error {
	var c Cluster
	var s Setup
	lines := strings.Split(story, "\n")
	for i := 0; i < len(lines); i++ {
		words := strings.Fields(lines[i])
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case words[0] == "cluster":
			var err error
			if s, err = setup(words[1:]); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			c = begin(s)
		case c == nil:
			return fmt.Errorf("line %d: a story begins with its cluster", i+1)
		case words[0] == "----":
			want := 0
			for i+1+want < len(lines) && lines[i+1+want] != "" {
				want++
			}
			if err := compare(c, s.Counted, lines[i+1:i+1+want]); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
			i += want
		default:
			if err := do(c, words); err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return nil
}

// compare waits until the cluster is as a story says.
func compare(c Cluster, counted bool, want []string) error {
	c.Await(func() bool { return slices.Equal(state(c, counted), want) })
	if got := state(c, counted); !slices.Equal(got, want) {
		return fmt.Errorf("the cluster is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func state(c Cluster, counted bool) (lines []string) {
	nodes := c.State()
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		line := nodes[name].String()
		if counted {
			line = nodes[name].counted()
		}
		lines = append(lines, name+" "+line)
	}
	return lines
}

// setup reads a story's first line.
func setup(words []string) (s Setup, err error) {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "system":
			s.System = value
		case "mode":
			s.Mode = value
		case "range":
			s.Range, err = netip.ParsePrefix(value)
		case "block":
			s.Block, err = strconv.Atoi(value)
		case "counted":
			s.Counted = true
		case "pre-allocate":
			s.PreAllocate, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("no setting %q", key)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// do has something happen.
func do(c Cluster, words []string) error {
	what := words[0]
	if what == "replace" && len(words) == 1 {
		c.Replace()
		return nil
	}
	if len(words) < 2 {
		return fmt.Errorf("%q: to what?", what)
	}
	switch name := words[1]; {
	case what == "join":
		c.Join(name)
	case what == "leave":
		c.Leave(name)
	case what == "restart":
		c.Restart(name)
	case what == "extend":
		r, err := netip.ParsePrefix(name)
		if err != nil {
			return err
		}
		c.Extend(r)
	case what == "pods" && len(words) == 3:
		n, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		c.Pods(name, n)
	default:
		return fmt.Errorf("no command %q with %d words", what, len(words))
	}
	return nil
}
