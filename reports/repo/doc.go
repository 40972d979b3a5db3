// Package repo holds the rules of this repository and proves them in every test run.
//
// It decides whether the tree keeps to the shape that ARCHITECTURE.md promises: who imports whom, what deterministic code
// must not call, how packages are documented. It never judges behaviour: laws in scenarios/check do that. Start at Rule.
// Sources are parsed from the tree and type-checked where the default build compiles them; findings come in path order.
// A rule that could not look says so as a finding, so that an unreadable file is never a clean one.
// To add a rule, write a Rule with the sentence that says why, list it in Rules, and feed it a tiny source that breaks it.
package repo
