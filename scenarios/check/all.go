package check

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// All returns every law in the order of reports: addresses, consistency, wiring, behavior. The slice is the caller's.
func All() []fact.Law {
	return []fact.Law{
		oneOwner(),
		leaseInRange(),
		nodeIDsDisjoint(),
		nodeIDsRest(),
		recordsOwned(),
		recordsExclusive(),
		idsReturned(),
		grantsDisjoint(),
		oneLeader(),
		grantsUsed(),
		grantsOpen(),
		grantsSteady(),
		nodesServed(),
		rangesCounted(),
		cloudRoutes(),
		addressLeased(),
		nicsWired(),
		podsServed(),
		addressStable(),
		sameAnswer(),
		addressAsAsked(),
		addressRests(),
		unwiredBeforeReuse(),
		addNotForgotten(),
		toldIsSaved(),
		restartsRemember(),
		oneSandbox(),
		requestsAnswered(),
		hooksRun(),
		packetsFit(),
		podsReachPods(),
		reachable(),
		hostReachable(),
		hostRoutes(),
		routesNeeded(),
		servicesReached(),
		policiesKept(),
		booksAgree(),
		tunnelsSymmetric(),
		staysWired(),
		sendersBound(),
		callsAccepted(),
		withinBudget(),
		asConfigured(),
		nothingStays(),
		checkTells(),
		quietRestart(),
		staysQuiet(),
		vppSurvives(),
		programsSurvive(),
		Settles(),
	}
}

// ByName finds a law by its name.
func ByName(name string) (fact.Law, bool) {
	for _, l := range All() {
		if l.Name == name {
			return l, true
		}
	}
	return fact.Law{}, false
}

// broken is a violation of law; its What is one sentence.
func broken(law string, at time.Duration, node, format string, args ...any) *fact.Violation {
	return &fact.Violation{Law: law, At: at, Node: node, What: fmt.Sprintf(format, args...)}
}

// lives reports whether a node's machine runs. A dead machine holds nothing, and no law judges it.
func lives(n *fact.NodeState) bool { return n.MachineUp && !n.Misfit }
