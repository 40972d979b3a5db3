package timeline

import (
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// faultNeeds are what the faults of a text can strike, as needs. What its words mean, worlds read: here kinds of operations
// are told apart, and requests of controllers and daemons, whose names have hyphens, from those of agents, whose have none.
func faultNeeds(text string) (list []Need) {
	add := func(n Need) {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == '(' || r == ')' || r == ' ' || r == '"' })
	for i, word := range words[1:] {
		switch before := words[i]; {
		case before == "Kind" && strings.HasPrefix(word, "control"), before == "Request" && strings.Contains(word, "-"):
			add(ControllerCalls)
		case before == "Kind" && strings.HasSuffix(word, "-watch"):
			add(WatchDelivery)
		case before == "Kind", before == "Request":
			add(AgentCalls)
		}
	}
	if len(list) == 0 { // whatever is done
		list = append(list, AgentCalls, WatchDelivery, ControllerCalls)
	}
	return list
}

// strikes is a need of an action that injects a fault which can strike there.
func strikes(n Need) func(scenarios.Inject) Need {
	return func(a scenarios.Inject) Need {
		if slices.Contains(faultNeeds(a.Fault), n) {
			return n
		}
		return Nothing
	}
}

// injects reports whether a scenario's fault section injects faults that can strike there.
func injects(f *scenarios.Faults, n Need) bool {
	return slices.ContainsFunc(f.Inject, func(text string) bool { return slices.Contains(faultNeeds(text), n) })
}
