import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UserDataError } from "../errors.ts";
import { renderJinja } from "./jinja.ts";

const variables = {
  ds: { meta_data: { local_hostname: "Node-1", "instance-id": "i-1", list: ["a", "b"], empty: "", flag: true } },
  v1: { region: "eu" },
};

describe("renders", () => {
  test.each([
    ["{{ ds.meta_data.local_hostname }}", "Node-1"],
    ["{{ds.meta_data['local_hostname']}}", "Node-1"],
    ['{{ ds["meta_data"].instance_id }}', "i-1"],
    ["{{ ds.meta_data.list[1] }}", "b"],
    ["{{ v1.region | upper }}", "EU"],
    ["{{ ds.meta_data.local_hostname | lower | replace('-', '_') }}", "node_1"],
    ["{{ nope | default('x') }}", "x"],
    ["{{ ds.meta_data.nope }}", "CI_MISSING_JINJA_VAR/nope"],
    ["{{ ds.meta_data.flag }}", "True"],
    ["a {# comment #} b", "a  b"],
    ["a  {{- v1.region -}}  b", "aeub"],
    ["{% if v1.region == 'eu' %}yes{% else %}no{% endif %}", "yes"],
    ["{% if ds.meta_data.empty %}yes{% elif v1.region is defined %}maybe{% else %}no{% endif %}", "maybe"],
    ["{% if not nope and v1.region != 'us' %}yes{% endif %}", "yes"],
    ["{% if false %}{% if true %}a{% endif %}b{% endif %}c", "c"],
    ["{% raw %}{{ x }}{% endraw %}", "{{ x }}"],
    ["a\n{# comment #}\nb", "a\nb"],
    ["{% if v1.region %}\nyes\n{% endif %}\n\nend\n", "yes\n\nend\n"],
    ["{{ v1.region }}\nb", "eu\nb"],
    ["{% raw %}\n{{ x }}{% endraw %}\nb", "\n{{ x }}b"],
    ["no template at all } {", "no template at all } {"],
  ])("%s", (template, expected) => {
    expect(renderJinja(template, variables)).toBe(expected);
  });
});

test.each([
  "{% for x in y %}{% endfor %}",
  "{% if a %}",
  "{% endif %}",
  "{{ a | nope }}",
  "{{ a + b }}",
  "{{ }}",
  "{% raw %}",
])("%s is refused", (template) => {
  expect(() => renderJinja(template, variables)).toThrow(UserDataError);
});

test("throws nothing but UserDataError, and reaches own members only", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("{{", "}}", "{%", "%}", " ", "if", "a", ".", "|", "'", "[", "0", "constructor"),
      }),
      (template) => {
        try {
          expect(renderJinja(template, { a: { b: 1 } })).not.toContain("native code");
        } catch (error) {
          expect(error).toBeInstanceOf(UserDataError);
        }
      },
    ),
  );
});
