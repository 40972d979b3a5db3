package aws

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// SubnetTag, with the value "1", makes a subnet one of pods' interfaces; with "0" it takes the primary interface's own out.
const SubnetTag = "kubernetes.io/role/cni"

// subnets are those that a new interface may be in, best first: the one with most free addresses, as upstream's ipamd has it
// since 1.18. Where they cannot be found out, it is the primary interface's alone.
func (c *Client) subnets(ctx context.Context) []string {
	own := []string{cmp.Or(c.cfg.PodSubnet, c.instance.Subnet)}
	if !c.cfg.SubnetDiscovery || c.cfg.PodSubnet != "" {
		return own
	}
	here := []types.Filter{filter("vpc-id", c.instance.VPC), filter("availability-zone", c.instance.Zone)}
	var found []types.Subnet
	err := pages(func(token *string) (*string, error) {
		out, err := request(ctx, c, "DescribeSubnets", c.ec2.describeSubnets, &ec2.DescribeSubnetsInput{Filters: here, NextToken: token})
		if err != nil {
			return nil, err
		}
		found = append(found, out.Subnets...)
		return out.NextToken, nil
	})
	if err != nil {
		c.cfg.Log.Warn("subnets cannot be discovered; the primary interface's is used", "error", err)
		return own
	}
	found = slices.DeleteFunc(found, func(s types.Subnet) bool {
		for _, t := range s.Tags {
			if aws.ToString(t.Key) == SubnetTag {
				return aws.ToString(t.Value) != "1"
			}
		}
		return aws.ToString(s.SubnetId) != c.instance.Subnet
	})
	slices.SortFunc(found, func(a, b types.Subnet) int {
		return cmp.Or(cmp.Compare(aws.ToInt32(b.AvailableIpAddressCount), aws.ToInt32(a.AvailableIpAddressCount)), cmp.Compare(aws.ToString(a.SubnetId), aws.ToString(b.SubnetId)))
	})
	if len(found) == 0 {
		return own
	}
	list := make([]string, len(found))
	for n, s := range found {
		list[n] = aws.ToString(s.SubnetId)
	}
	return list
}
