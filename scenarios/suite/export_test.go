package suite

import "github.com/onsi/gomega/types"

// ReachEachOtherWalking is ReachEachOther with another bound on the pairs that are walked without asking the law.
func ReachEachOtherWalking(pairs int) types.GomegaMatcher { return &reachEachOther{walkedMax: pairs} }
