package aws

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// Account asks EC2 for any instance of its region, as an operator does that runs on none of them.
type Account struct {
	cfg    Config
	region string
	ec2    api
}

// Open returns an Account. It asks nobody: region and credentials are the environment's, or those of Config.Sockets.
func Open(ctx context.Context, cfg Config) (*Account, error) {
	cfg.complete()
	sdk, _, err := cfg.sdk(ctx)
	if err == nil && sdk.Region == "" {
		err = fmt.Errorf("no region is named: set AWS_REGION")
	}
	if err != nil {
		return nil, fmt.Errorf("AWS configuration: %w", err)
	}
	return &Account{cfg: cfg, region: sdk.Region, ec2: apiOf(ec2.NewFromConfig(sdk))}, nil
}

// complete sets what was left out.
func (cfg *Config) complete() {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Requested == nil {
		cfg.Requested = func(string, time.Duration, error) {}
	}
	if cfg.Sleep == nil {
		cfg.Sleep = sleep
	}
}

// Client performs calls for an instance, which EC2 is asked what it is. It is for one goroutine at a time.
func (a *Account) Client(ctx context.Context, id string) (*Client, error) {
	c := &Client{cfg: a.cfg, sweeps: sweepLooks, ec2: a.ec2}
	out, err := request(ctx, c, "DescribeInstances", a.ec2.describeInstances, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		return nil, err
	}
	if len(out.Reservations) != 1 || len(out.Reservations[0].Instances) != 1 {
		return nil, fmt.Errorf("EC2 says nothing of instance %s", id)
	}
	i := out.Reservations[0].Instances[0]
	c.instance = Instance{ID: id, Type: string(i.InstanceType), Region: a.region, VPC: aws.ToString(i.VpcId), Subnet: aws.ToString(i.SubnetId)}
	if i.Placement != nil {
		c.instance.Zone = aws.ToString(i.Placement.AvailabilityZone)
	}
	for _, n := range i.NetworkInterfaces {
		if n.Attachment == nil || aws.ToInt32(n.Attachment.DeviceIndex) != 0 {
			continue
		}
		c.instance.MAC = aws.ToString(n.MacAddress)
		for _, g := range n.Groups {
			c.instance.Groups = append(c.instance.Groups, aws.ToString(g.GroupId))
		}
	}
	return c, nil
}

// Free is how many addresses the subnet has in which a new interface would be.
func (c *Client) Free(ctx context.Context) (int, error) {
	id := c.subnets(ctx)[0]
	out, err := request(ctx, c, "DescribeSubnets", c.ec2.describeSubnets, &ec2.DescribeSubnetsInput{SubnetIds: []string{id}})
	if err != nil {
		return 0, err
	}
	if len(out.Subnets) != 1 {
		return 0, fmt.Errorf("EC2 says nothing of subnet %s", id)
	}
	return int(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
}
