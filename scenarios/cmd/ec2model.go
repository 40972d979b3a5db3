package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/sim/ec2"
	"github.com/vppdrill/vppdrill/sim/ec2/endpoint"
)

// ec2Flags are the flags of `vppdrill lab ec2`.
type ec2Flags struct {
	api, metadata, kind, subnet string
	requests                    int
	attach                      time.Duration
	format                      cli.Format
}

// What the double of EC2 calls itself.
const (
	ec2Region, ec2Zone, ec2Subnet = "eu-central-1", "eu-central-1a", "subnet-00000000000000001"
	ec2AccessKey, ec2SecretKey    = "AKIAVPPDRILLDOUBLE00", "of-no-account"
)

func ec2ModelCommand() *cobra.Command {
	var f ec2Flags
	cmd := &cobra.Command{
		Use:   "ec2",
		Short: "Serve a modelled EC2 and one instance's metadata for any AWS program",
		Long: `Serve a modelled EC2 with one subnet and one instance, in EC2's Query protocol, and the instance's metadata service, which
wants session tokens (v2). The AWS SDK and programs built on it work against it with the environment that is printed. It
knows network interfaces, their addresses, /28 prefixes and /80 prefixes of IPv6, instances, subnets and instance types;
other requests are refused by name. It runs until it is interrupted, and keeps nothing.`,
		Example: `  vppdrill lab ec2 --instance-type m5.large --subnet 10.0.0.0/20
  vppdrill lab ec2 --requests 5 --attach-delay 10s`,
		Args: cli.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveEC2(cmd, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.api, "api", "127.0.0.1:0", "`address` of EC2's endpoint")
	flags.StringVar(&f.metadata, "metadata", "127.0.0.1:0", "`address` of the metadata service")
	flags.StringVar(&f.kind, "instance-type", "m5.large", "`type` of the instance, whose limits hold")
	flags.StringVar(&f.subnet, "subnet", "10.0.0.0/20", "`CIDR` of the subnet, /16 to /28")
	flags.IntVar(&f.requests, "requests", 0, "requests per second that are let through, twice as many at once; 0: all")
	flags.DurationVar(&f.attach, "attach-delay", 0, "how long interfaces take to be attached and detached")
	cli.AddFormatTo(flags, &f.format)
	return cmd
}

// model is the region that the flags ask for, with its one instance.
func (f ec2Flags) model(now time.Time) (*ec2.Region, *ec2.Host, error) {
	p, err := netip.ParsePrefix(f.subnet)
	if err != nil || !p.Addr().Is4() || p != p.Masked() || p.Bits() < 16 || p.Bits() > 28 {
		return nil, nil, cli.Usagef("lab ec2: --subnet %q: want an IPv4 CIDR of /16 to /28 without host bits", f.subnet)
	}
	limits, ok := datastore.LimitsOf(f.kind)
	if !ok {
		return nil, nil, cli.Usagef("lab ec2: --instance-type %q is none that is known; one is m5.large", f.kind)
	}
	if f.requests < 0 || f.attach < 0 {
		return nil, nil, cli.Usagef("lab ec2: --requests and --attach-delay cannot be negative")
	}
	cfg := ec2.RegionConfig{AttachDelay: f.attach}
	if f.requests > 0 {
		cfg.Account = ec2.NewAccount(now, float64(f.requests), 2*float64(f.requests))
	}
	r := ec2.NewRegion(cfg)
	r.AddSubnet(ec2.Place{ID: ec2Subnet, Zone: ec2Zone, Subnet: ec2.NewSubnet(p)})
	h, err := r.Launch(now, f.kind, ec2Subnet, ec2.Limits(limits))
	return r, h, err
}

func serveEC2(cmd *cobra.Command, f ec2Flags) error {
	region, host, err := f.model(time.Now())
	if err != nil {
		return err
	}
	s := endpoint.New(endpoint.Config{Region: region, Name: ec2Region, AccessKey: ec2AccessKey, SecretKey: ec2SecretKey,
		Types: func(name string) (ec2.Limits, bool) { l, ok := datastore.LimitsOf(name); return ec2.Limits(l), ok }})
	listen := func(flag, where string, h http.Handler) (string, func() error, error) {
		l, err := net.Listen("tcp", where)
		if err != nil {
			return "", nil, cannotListen("lab ec2: --"+flag, where, err)
		}
		server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, BaseContext: func(net.Listener) context.Context { return cmd.Context() }}
		go func() { _ = server.Serve(l) }() // it ends when the server is closed
		return "http://" + l.Addr().String(), server.Close, nil
	}
	api, closeAPI, err := listen("api", f.api, s.API())
	if err != nil {
		return err
	}
	metadata, closeMetadata, err := listen("metadata", f.metadata, s.Metadata(host.ID))
	if err != nil {
		return errors.Join(err, closeAPI())
	}
	if f.format == cli.JSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			API      string `json:"api"`
			Metadata string `json:"metadata"`
			Instance string `json:"instance"`
			Region   string `json:"region"`
		}{api, metadata, host.ID, ec2Region})
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "# modelled EC2 with instance %s, a %s in %s\nexport AWS_REGION=%s AWS_ENDPOINT_URL_EC2=%s\nexport AWS_EC2_METADATA_SERVICE_ENDPOINT=%s\n",
			host.ID, f.kind, f.subnet, ec2Region, api, metadata)
	}
	if err == nil {
		<-cmd.Context().Done()
	}
	return errors.Join(err, closeAPI(), closeMetadata())
}
