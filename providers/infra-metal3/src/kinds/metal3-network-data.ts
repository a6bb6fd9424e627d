import {
  anything,
  array,
  type Infer,
  integer,
  list,
  mapToList,
  object,
  optional,
  recode,
  type Schema,
  string,
} from "@capstan/capi";
import { sourceObject } from "./metal3-shared.ts";

const LINK_NAME = "^[a-zA-Z][a-zA-Z0-9._-]*$";
const text = (doc: string) => string({ doc, minLength: 1, maxLength: 512 });
const address = (doc: string) => string({ doc, minLength: 1, maxLength: 45 });
const poolName = (doc: string) => string({ doc, minLength: 1, maxLength: 253 });

const many = <T>(item: Schema<T>, doc: string, keys: string[], maxItems: number) =>
  optional(array(item, { doc, listType: "map", keys, minItems: 1, maxItems }));

const fromPoolAnnotation = optional(
  object(
    { object: sourceObject, annotation: text("Key of the annotation whose value names the pool.") },
    { doc: "Pool whose name is read from an annotation of an object." },
  ),
);

const fromPoolRef = optional(
  object(
    {
      name: poolName("Name of the pool."),
      kind: optional(string({ doc: "Kind of the pool; IPPool by default.", maxLength: 63 })),
      apiGroup: optional(string({ doc: "Group of the pool; ipam.metal3.io by default.", maxLength: 253 })),
    },
    { doc: "Reference to the pool, of any IPAM provider." },
  ),
);

const macAddress = optional(
  object(
    {
      string: optional(text("The address itself.")),
      fromHostInterface: optional(text("Name of an interface of the host.")),
      fromAnnotation: optional(
        object(
          { object: sourceObject, annotation: text("Key of the annotation.") },
          { doc: "MAC address that is read from an annotation of an object." },
        ),
      ),
    },
    { doc: "The MAC address of the link.", minProperties: 1, maxProperties: 1 },
  ),
);

const linkFields = {
  id: text("Name that networks and other links refer to."),
  name: optional(string({ doc: "Name of the link in the operating system.", maxLength: 15, pattern: LINK_NAME })),
  mtu: optional(integer({ doc: "Maximum packet size.", minimum: 1280, maximum: 9000, default: 1500 })),
  macAddress,
};

const ethernet = object(
  {
    ...linkFields,
    type: string({
      doc: "Kind of link.",
      enum: ["bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy"],
    }),
  },
  { doc: "A network interface." },
);

const bond = object(
  {
    ...linkFields,
    bondMode: string({
      doc: "Bonding mode.",
      enum: ["balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb", "802.3ad"],
    }),
    bondXmitHashPolicy: optional(
      string({ doc: "Policy that distributes packets over the links.", enum: ["layer2", "layer3+4", "layer2+3"] }),
    ),
    parameters: many(
      object(
        { name: text("Name without the prefix bond_."), value: anything({ doc: "Its value." }) },
        { doc: "One parameter of the bond." },
      ),
      "Further parameters.",
      ["name"],
      512,
    ),
    bondLinks: optional(
      array(text("Name of a link."), { doc: "The links it is made of.", listType: "set", maxItems: 512 }),
    ),
  },
  { doc: "A bond of several links." },
);

const vlan = object(
  {
    ...linkFields,
    vlanID: integer({ doc: "Number of the VLAN.", minimum: 0, maximum: 4096 }),
    vlanLink: text("The link it is on."),
  },
  { doc: "A VLAN on a link." },
);

const dns = optional(array(address("A server."), { doc: "Servers.", listType: "set", minItems: 1, maxItems: 512 }));
const services = object(
  { dns, dnsFromIPPool: optional(poolName("An IPPool whose DNS servers are used.")) },
  { doc: "Services of the network." },
);

const route = (bits: number) =>
  object(
    {
      network: address("Destination."),
      prefix: optional(integer({ doc: "Length of its prefix; 0 by default.", minimum: 0, maximum: bits })),
      gateway: optional(
        object(
          {
            string: optional(address("The gateway itself.")),
            fromIPPool: optional(poolName("An IPPool whose gateway is used.")),
            fromPoolRef,
            fromPoolAnnotation,
          },
          { doc: "Gateway of the route: an address, or the gateway of a pool." },
        ),
      ),
      services: optional(services),
    },
    { doc: "A route." },
  );

const routes = (bits: number) => many(route(bits), "Routes.", ["network"], 512);
const networkFields = { id: text("Name of the network."), link: text("The link it is on.") };

const fixed = (bits: number) =>
  object(
    {
      ...networkFields,
      ipAddressFromIPPool: optional(poolName("An IPPool that gives the address.")),
      fromPoolRef,
      fromPoolAnnotation,
      routes: routes(bits),
    },
    {
      doc: "A network whose address comes from a pool.",
      rules: [
        {
          rule: "has(self.ipAddressFromIPPool) || has(self.fromPoolRef) || has(self.fromPoolAnnotation)",
          message: "name a pool: ipAddressFromIPPool, fromPoolRef or fromPoolAnnotation",
        },
      ],
    },
  );
const dynamic = (bits: number) =>
  object(
    { ...networkFields, routes: routes(bits) },
    { doc: "A network whose address is assigned by the network itself." },
  );

/** Schema of a template's network data, in OpenStack's terms. */
export const networkData = object(
  {
    links: optional(
      object(
        {
          ethernets: many(ethernet, "Interfaces.", ["id"], 32),
          bonds: many(bond, "Links made of several.", ["id"], 32),
          vlans: many(vlan, "Virtual LANs on a link.", ["vlanID"], 512),
        },
        { doc: "Network interfaces, bonds and VLANs." },
      ),
    ),
    networks: optional(
      object(
        {
          ipv4: many(fixed(32), "IPv4 with an address of a pool.", ["id"], 512),
          ipv6: many(fixed(128), "IPv6 with an address of a pool.", ["id"], 512),
          ipv4DHCP: many(dynamic(32), "IPv4 by DHCP.", ["id"], 512),
          ipv6DHCP: many(dynamic(128), "IPv6 by DHCP.", ["id"], 512),
          ipv6SLAAC: many(dynamic(128), "IPv6 by router advertisements.", ["id"], 512),
        },
        { doc: "IP networks on the links." },
      ),
    ),
    services: optional(services),
  },
  {
    doc: "Template of the network data.",
    rules: [{ rule: "self == oldSelf", message: "networkData cannot change; make another template" }],
  },
);
/** The network data section of a Metal3DataTemplate. */
export type NetworkData = Infer<typeof networkData>;

/** Conversion rules between v1beta1 and v1beta2 of the network data section. */
export const NETWORK_DATA_RULES = [
  recode("spec.networkData.links.bonds", list([recode("parameters", mapToList("value"))])),
];
