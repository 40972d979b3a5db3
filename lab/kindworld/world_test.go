package kindworld_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/container"
	"github.com/vppdrill/vppdrill/lab/internal/kindcluster"
	"github.com/vppdrill/vppdrill/lab/kindworld"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/scenarios/timeline/worldtest"
)

// refused are the verbs that a cluster refuses.
const refused = "lose-sandboxes kill-plugin kill-runtime fill-disk lose-state unregister-node rename-node crash-disk change-version set-clock stop-dhcp stale-watch gap-watch duplicate-watch add-range remove-range restart-controller lose-leader " +
	"set-pod-cidr change-node-address change-management change-policy remove-policy label-pods label-namespace claim-address slow-link inject"

// Goal: a cluster does every action or says by name and with a reason that it cannot. Method: every action of the
// language on a real cluster of three nodes.
func TestEveryAction(t *testing.T) {
	if os.Getenv("VPPDRILL_KIND") == "" {
		t.Skip("VPPDRILL_KIND=1 makes a cluster; it takes many minutes")
	}
	o := kindworld.Options{RunOptions: lab.RunOptions{Log: slog.New(slog.DiscardHandler), Options: result.Options{Seed: 1}}, Cluster: kindcluster.Options{ID: "every", Nodes: 1, VPPImage: container.DefaultImage,
		Dir: t.TempDir(), Wait: 5 * time.Minute}}
	if err := kindcluster.Check(t.Context(), o.Cluster); err != nil {
		t.Skip(err)
	}
	s, err := scenarios.Parse("every-action", []byte(worldtest.Scenario))
	if err != nil {
		t.Fatal(err)
	}
	s.Config.Wiring.Host, s.Config.Wiring.Services = scenarios.HostVETH, scenarios.ServedByVPP
	w, err := kindworld.New(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if have := strings.Join(worldtest.Answers(t, w), " "); have != refused {
		t.Errorf("refused %q, want %q", have, refused)
	}
}

// Goal: what TestEveryAction expects of a cluster is known to be right without one. Method: every action of the
// language in one scenario.
func TestRefusedByVerb(t *testing.T) {
	s, err := scenarios.Parse("every-action", []byte(worldtest.Scenario))
	if err != nil {
		t.Fatal(err)
	}
	s.Timeline = worldtest.Timeline(t)
	var have []string
	for _, r := range kindworld.Unsupported(s) {
		have = append(have, r.What)
	}
	if have := strings.Join(have, " "); have != refused {
		t.Errorf("refused %q, want %q", have, refused)
	}
}

// Goal: how much of the catalogue runs in clusters is known without one, and everything else has its reason. Method:
// every scenario.
func TestCatalogueIsRefusedByName(t *testing.T) {
	list, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	runs, why := 0, map[timeline.Need]int{}
	for _, s := range list {
		missing := kindworld.Unsupported(s)
		if len(missing) == 0 {
			runs++
		}
		for _, m := range missing {
			if m.Need == timeline.Nothing || m.Need.String() == "" {
				t.Errorf("%s: %s is refused without a reason", s.Name, m.What)
			}
			why[m.Need]++
		}
	}
	if runs < 20 {
		t.Errorf("%d of %d scenarios run", runs, len(list))
	}
	t.Logf("%d of %d scenarios run", runs, len(list))
	for need, n := range why { // in any order: a log
		t.Logf("%3d %s", n, need)
	}
}
