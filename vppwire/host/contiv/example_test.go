package contiv_test

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv"
	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// A program that embeds the agent asks it about its pods, is called around their lives, and hears of its containers.
func ExamplePlugin() {
	run := func(ctx context.Context, cfg host.Config) error { // cfg as for host.New
		p, err := contiv.NewPlugin(cfg)
		if err != nil {
			return err
		}
		p.RegisterPodPostAddHook(func(namespace, name string) error {
			iface, _ := p.GetIfName(namespace, name)
			fmt.Println(namespace, name, "is behind", iface)
			return nil
		})
		go func() { // it waits until the agent runs
			_ = p.GetContainerIndex().Watch("me", func(e containeridx.ChangeEvent) { fmt.Println(e.Name, e.Del) })
		}()
		return p.Run(ctx)
	}
	_ = run
}
