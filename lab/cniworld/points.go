package cniworld

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// alone ends the word for points at which only one program is killed.
const alone = "-alone"

// Kinds are the kinds of points: the commands under which plugins can be killed, all that is under way or one program
// alone.
func Kinds() []string {
	return []string{cmdAdd, cmdDel, cmdCheck, cmdGC, cmdAdd + alone, cmdDel + alone}
}

// Point is one system call of a scenario's run before which plugins can be killed.
type Point struct {
	// Command is the command under way, Number the call's, Call what it is, Node where.
	Command string
	Number  int
	Call    string
	Node    string
	// Alone: only the program that makes it is killed.
	Alone bool
}

// Kind is the point's, one of Kinds.
func (p Point) Kind() string {
	if p.Alone {
		return p.Command + alone
	}
	return p.Command
}

// String is "ADD call 17, host-local: create /var/lib/cni/networks/net/10.1.1.2".
func (p Point) String() string {
	text := fmt.Sprintf("%s call %d, %s", p.Command, p.Number, p.Call)
	if p.Alone {
		text += ", this program alone"
	}
	return text
}

// Scenario is s with the kill.
func (p Point) Scenario(s *scenarios.Scenario) *scenarios.Scenario {
	out := *s
	kill := scenarios.KillPlugin{Node: scenarios.NodeRef(p.Node), Command: scenarios.CNICommand(p.Command), Call: p.Number, Alone: p.Alone}
	out.Timeline = append([]scenarios.Step{{Trigger: scenarios.AtTime, Action: kill}}, s.Timeline...)
	return &out
}

// errSurvey: a run that does not pass undisturbed has no points worth trying.
var errSurvey = errors.New("the scenario does not pass without a kill")

// Points runs s undisturbed and lists the calls of the first of each command on a node, node-1 for "".
func Points(ctx context.Context, s *scenarios.Scenario, o Options, kinds []string, node string) ([]Point, error) {
	if node == "" {
		node = "node-1"
	}
	seen := map[string][]string{}
	o.Seen = func(on, command string, calls []string) {
		if _, before := seen[command]; on == node && !before {
			seen[command] = calls
		}
	}
	res, err := Run(ctx, s, o)
	if err != nil {
		return nil, err
	}
	if res.Verdict != result.Pass {
		return nil, fmt.Errorf("%w: %s", errSurvey, res.Error)
	}
	var list []Point
	for _, kind := range Kinds() {
		command, one := strings.CutSuffix(kind, alone)
		if !slices.Contains(kinds, kind) {
			continue
		}
		for i, call := range seen[command] {
			list = append(list, Point{Command: command, Number: i + 1, Call: call, Node: node, Alone: one})
		}
	}
	return list, nil
}

// Smallest leaves out of a scenario's timeline, item by item from the end, what a failure of the same law and cause does
// not need.
func Smallest(ctx context.Context, s *scenarios.Scenario, o Options, failure *result.Failure) *scenarios.Scenario {
	for i := len(s.Timeline) - 1; i >= 0 && ctx.Err() == nil; i-- {
		less := *s
		less.Timeline = slices.Delete(slices.Clone(s.Timeline), i, i+1)
		res, err := Run(ctx, &less, o)
		if err == nil && res.Failure != nil && res.Failure.Law == failure.Law && res.Failure.Cause == failure.Cause {
			s = &less
		}
	}
	return s
}
