package netns

import (
	"context"
	"os"
	"sync"
	"testing"
)

// TestChecksSideBySide goal: several labs that start at once do not find each other's trial namespaces in their way.
func TestChecksSideBySide(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: network namespaces")
	}
	if err := (Backend{}).Check(context.Background()); err != nil {
		t.Skip(err.Error())
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := (Backend{}).Check(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
