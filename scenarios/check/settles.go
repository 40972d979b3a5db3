package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const settlesName = "settles"

// Settles is the law that a healed cluster becomes quiet within the scenario's bound. No snapshot can break it: the
// runner counts a check per World.Settle, and reports the violation when one fails.
func Settles() fact.Law {
	return fact.Law{
		Name: settlesName,
		Rule: "After healing, the cluster becomes quiet within the bound of the scenario.",
		Why: "A cluster that does not converge after its faults are gone retries indefinitely, and its pods wait " +
			"indefinitely.",
		When:    fact.Settled,
		Foreign: true,
		Check:   func(fact.Snapshot) (int64, error) { return 0, nil },
	}
}
