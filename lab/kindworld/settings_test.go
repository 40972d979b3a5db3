package kindworld

import (
	"testing"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: what agents of a cluster read is what the scenario says, for everything of the catalogue that clusters run.
// Method: settingsOf reads its own file.
func TestSettings(t *testing.T) {
	list, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if len(Unsupported(s)) > 0 {
			continue
		}
		s, _ = lab.Adapted(s)
		c, err := agentconfig.Of(s.Config)
		if err == nil {
			_, err = settingsOf(c)
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

// Goal: the label by which a cluster's control plane is made known as a node without an agent is the one that agents
// look at.
func TestAgentless(t *testing.T) {
	if have, want := kindcluster.AgentNone, kube.AgentLabel+"="+kube.AgentNone; have != want {
		t.Errorf("%s, agents look at %s", have, want)
	}
}
