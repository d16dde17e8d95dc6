import type { ErrorDefinitions } from './definition.ts';

/** Errors of field definitions, vocabularies and values. `property` of a value is the code of its field. */
export const fieldErrors = {
  // Definitions
  'asset-type-not-found': {
    status: 400,
    text: 'applies_to: there is no asset type {type}',
    property: 'applies_to',
  },
  'capability-not-found': { status: 400, text: '{property}: there is no capability {capability}' },
  'edit-tab-empty': {
    status: 400,
    text: 'edit_tab is empty; clear_edit_tab removes it',
    property: 'edit_tab',
  },
  'extraction-source-unknown': {
    status: 400,
    text: 'extraction_source: nothing extracts {source}',
    property: 'extraction_source',
  },
  'extraction-without-file': {
    status: 400,
    text: 'extraction_source: collections have no file to extract from',
    property: 'extraction_source',
  },
  'field-not-appendable': { status: 400, text: 'nothing can be appended to {field}' },
  'field-code-taken': { status: 409, text: 'there is a field with the code {code}', property: 'code' },
  'field-of-collections': {
    status: 400,
    text: '{field} is a field of collections, which do not belong to teams',
  },
  'field-without-vocabulary': { status: 400, text: 'a field of type {type} has no vocabulary' },
  'mirrored-column': {
    status: 400,
    text: '{property} cannot be combined with mirrors_column ({column})',
  },
  'replacement-in-cycle': {
    status: 400,
    text: 'deprecated_replacement_id: the fields replace each other: {cycle}',
    property: 'deprecated_replacement_id',
  },
  'replacement-is-itself': {
    status: 400,
    text: 'deprecated_replacement_id is the field itself',
    property: 'deprecated_replacement_id',
  },
  'replacement-not-found': {
    status: 400,
    text: 'deprecated_replacement_id: there is no such field',
    property: 'deprecated_replacement_id',
  },
  'replacement-of-other-kind': {
    status: 400,
    text: 'deprecated_replacement_id is a field of another kind ({kind})',
    property: 'deprecated_replacement_id',
  },
  'card-excludes-read-capability': {
    status: 400,
    text: 'show_on_card and read_capability are mutually exclusive: everyone sees cards',
    property: 'show_on_card',
  },

  // Patterns
  'pattern-anchored': {
    status: 400,
    text: 'regexp_filter has ^ or $, which must not be written: the whole value is matched anyway',
    property: 'regexp_filter',
  },
  'pattern-for-other-type': {
    status: 400,
    text: 'regexp_filter is for {types}, not for {type}',
    property: 'regexp_filter',
  },
  'pattern-invalid': { status: 400, text: 'regexp_filter: {reason}', property: 'regexp_filter' },
  'pattern-too-complex': {
    status: 400,
    text: 'regexp_filter repeats too much: it is a program of {steps} steps, and {max} is the most',
    property: 'regexp_filter',
  },
  'pattern-too-complex-for-length': {
    status: 400,
    text: 'regexp_filter repeats too much for values of {length} characters: as a program of {steps} steps it is for values of up to {max}, which max_length can say',
    property: 'regexp_filter',
  },
  'pattern-too-long': {
    status: 400,
    text: 'regexp_filter is longer than {max} characters',
    property: 'regexp_filter',
  },

  // Display conditions
  'condition-contradictory': {
    status: 400,
    text: 'display_condition: "{term}" and "{other}" are never true together',
    property: 'display_condition',
  },
  'condition-empty': {
    status: 400,
    text: 'display_condition is empty; clear_display_condition removes it',
    property: 'display_condition',
  },
  'condition-field-not-found': {
    status: 400,
    text: 'display_condition: "{term}": there is no field {field}',
    property: 'display_condition',
  },
  'condition-in-cycle': {
    status: 400,
    text: 'display_condition: the fields depend on each other: {cycle}',
    property: 'display_condition',
  },
  'condition-malformed': {
    status: 400,
    text: 'display_condition: "{term}" is not <code><operator><value>',
    property: 'display_condition',
  },
  'condition-of-itself': {
    status: 400,
    text: 'display_condition: "{term}" refers to the field itself',
    property: 'display_condition',
  },
  'condition-of-other-kind': {
    status: 400,
    text: 'display_condition: "{term}": {field} is a field of another kind ({kind})',
    property: 'display_condition',
  },
  'condition-operator-not-allowed': {
    status: 400,
    text: 'display_condition: "{term}": {operator} is not allowed',
    property: 'display_condition',
  },
  'condition-operator-not-for-type': {
    status: 400,
    text: 'display_condition: "{term}": a field of type {type} takes {allowed}, not {operator}',
    property: 'display_condition',
  },
  'condition-term-too-long': {
    status: 400,
    text: 'display_condition: "{term}..." is longer than 500 characters',
    property: 'display_condition',
  },
  'condition-too-many-terms': {
    status: 400,
    text: 'display_condition has more than 20 terms',
    property: 'display_condition',
  },

  // Options
  'option-invalid': { status: 400, text: 'options: {property} is not {expected}' },
  'options-bounds-reversed': { status: 400, text: 'options: {property} is above {other}' },
  'options-too-large': {
    status: 400,
    text: 'options: more than {max} characters beside the values',
    property: 'options',
  },
  'options-truncated': {
    status: 400,
    text: 'options: truncated vocabularies are not written back; change terms one by one',
    property: 'options',
  },
  'options-without-values': {
    status: 400,
    text: 'options: a field of type {type} has no values',
    property: 'options',
  },

  // Defaults
  'default-above-maximum': {
    status: 400,
    text: 'default_value: {member} is above {limit}',
    property: 'default_value',
  },
  'default-after-maximum': {
    status: 400,
    text: 'default_value: {member} is after {limit}',
    property: 'default_value',
  },
  'default-asset-not-found': {
    status: 400,
    text: 'default_value: value_ref names no asset',
    property: 'default_value',
  },
  'default-before-minimum': {
    status: 400,
    text: 'default_value: {member} is before {limit}',
    property: 'default_value',
  },
  'default-below-minimum': {
    status: 400,
    text: 'default_value: {member} is below {limit}',
    property: 'default_value',
  },
  'default-context-missing': {
    status: 400,
    text: 'default_value: kind context needs a context',
    property: 'default_value',
  },
  'default-context-not-allowed': {
    status: 400,
    text: 'default_value: context cannot be combined with kind literal',
    property: 'default_value',
  },
  'default-context-not-for-type': {
    status: 400,
    text: 'default_value: {context} does not apply to a field of type {type}',
    property: 'default_value',
  },
  'default-empty': { status: 400, text: 'default_value: {member} is empty', property: 'default_value' },
  'default-in-other-member': {
    status: 400,
    text: 'default_value: {other} cannot be combined with type {type}, which takes {member}',
    property: 'default_value',
  },
  'default-literal-missing': {
    status: 400,
    text: 'default_value: a literal of type {type} needs {member}',
    property: 'default_value',
  },
  'default-literal-not-allowed': {
    status: 400,
    text: 'default_value: {member} cannot be combined with kind context',
    property: 'default_value',
  },
  'default-not-date': { status: 400, text: 'default_value: {member} is no date', property: 'default_value' },
  'default-not-finite': {
    status: 400,
    text: 'default_value: {member} is not a finite number',
    property: 'default_value',
  },
  'default-not-multiple-of-step': {
    status: 400,
    text: 'default_value: {member} is no multiple of {limit}',
    property: 'default_value',
  },
  'default-not-whole': {
    status: 400,
    text: 'default_value: {member} is not a whole number',
    property: 'default_value',
  },
  'default-of-team-invalid': {
    status: 400,
    text: 'the default of the team {team} would become invalid: {reason}',
    property: 'default_value',
  },
  'default-term-has-narrower': {
    status: 400,
    text: 'default_value: the term "{term}" has narrower terms; name one of them',
    property: 'default_value',
  },
  'default-term-not-active': {
    status: 400,
    text: 'default_value: the term "{term}" is {status}',
    property: 'default_value',
  },
  'default-term-not-found': {
    status: 400,
    text: 'default_value: "{term}" is not a term of the field',
    property: 'default_value',
  },
  'default-term-repeated': {
    status: 400,
    text: 'default_value: the term "{term}" occurs twice',
    property: 'default_value',
  },
  'default-terms-missing': {
    status: 400,
    text: 'default_value: value_options is empty',
    property: 'default_value',
  },
  'default-too-few-terms': {
    status: 400,
    text: 'default_value: {member} has fewer than {limit} terms',
    property: 'default_value',
  },
  'default-text-too-long': {
    status: 400,
    text: 'default_value: {member} is longer than {limit} characters',
    property: 'default_value',
  },
  'default-too-many-terms': {
    status: 400,
    text: 'default_value: {member} has more than {limit} terms',
    property: 'default_value',
  },
  'default-text-too-short': {
    status: 400,
    text: 'default_value: {member} is shorter than {limit} characters',
    property: 'default_value',
  },

  // Vocabularies
  'alias-repeated': {
    status: 400,
    text: 'options: "{term}" has the alias "{alias}" twice',
    property: 'aliases',
  },
  'alias-is-alias': {
    status: 400,
    text: 'options: the alias "{alias}" of "{term}" is an alias of "{other}" too',
    property: 'aliases',
  },
  'alias-is-label': {
    status: 400,
    text: 'options: the alias "{alias}" of "{term}" is the label of "{other}"',
    property: 'aliases',
  },
  'alias-is-value': {
    status: 400,
    text: 'options: the alias "{alias}" of "{term}" is the value of a term',
    property: 'aliases',
  },
  'alias-malformed': {
    status: 400,
    text: 'options: an alias of "{term}" is not a text of 1 to 200 characters',
    property: 'aliases',
  },
  'aliases-malformed': {
    status: 400,
    text: 'options: the aliases of "{term}" are not a list of at most 100 texts',
    property: 'aliases',
  },
  'merge-in-progress': {
    status: 409,
    text: '"{source}" is still being merged into "{target}"; try again when the job has ended',
  },
  'merge-of-merged': { status: 400, text: 'source: "{term}" has already been merged', property: 'source' },
  'merge-of-parent': {
    status: 400,
    text: 'source: "{term}" has narrower terms; move them first',
    property: 'source',
  },
  'merge-into-archived': { status: 400, text: 'target: "{term}" is archived', property: 'target' },
  'merge-into-itself': { status: 400, text: 'source and target are the same term', property: 'target' },
  'merge-into-parent': {
    status: 400,
    text: 'target: "{term}" has narrower terms; name one of them',
    property: 'target',
  },
  'merge-into-replaced': { status: 400, text: 'target: "{term}" has a successor', property: 'target' },
  'merge-term-not-found': { status: 400, text: '{property}: "{term}" is not a term of the field' },
  'parent-below-itself': {
    status: 400,
    text: 'terms: "{term}" cannot be below itself ("{parent}")',
    property: 'parent',
  },
  'parent-not-found': { status: 400, text: 'terms: the parent "{parent}" is not a term', property: 'parent' },
  'parent-not-found-before': {
    status: 400,
    text: 'terms: the parent "{parent}" is not a term or comes later in the list',
    property: 'parent',
  },
  'parents-only-in-trees': { status: 400, text: 'terms: only a tree has parents', property: 'parent' },
  'successor-in-cycle': {
    status: 400,
    text: '{list}: "{term}" is replaced by itself through a cycle: {cycle}',
    property: 'replaced_by',
  },
  'successor-is-itself': {
    status: 400,
    text: '{list}: "{term}" is replaced by itself',
    property: 'replaced_by',
  },
  'successor-malformed': {
    status: 400,
    text: 'options: replaced_by of "{term}" is not a slug',
    property: 'replaced_by',
  },
  'successor-not-found': {
    status: 400,
    text: '{list}: "{term}" is replaced by "{successor}", which is not a term',
    property: 'replaced_by',
  },
  'successor-of-active': {
    status: 400,
    text: '{list}: "{term}" is active and has a replaced_by',
    property: 'replaced_by',
  },
  'term-cannot-be-parent': {
    status: 400,
    text: 'terms: "{parent}" cannot be a parent, which only a tree has',
    property: 'parent',
  },
  'term-children-malformed': {
    status: 400,
    text: 'options: the children of "{term}" are not a list',
    property: 'options',
  },
  'term-children-not-allowed': {
    status: 400,
    text: 'options: "{term}" has children, which only a tree may have',
    property: 'options',
  },
  'term-children-too-deep': {
    status: 400,
    text: 'options: "{term}" has children below {max} levels',
    property: 'options',
  },
  'term-exists': { status: 409, text: 'terms: the value "{term}" already exists', property: 'value' },
  'term-in-use': {
    status: 400,
    text: 'options: values use "{term}"; deprecate, archive or merge it instead of leaving it out',
    property: 'options',
  },
  'term-is-alias': { status: 400, text: 'terms: "{name}" is an alias of "{term}"' },
  'term-is-label': { status: 400, text: 'terms: "{name}" is the label of "{term}"' },
  'term-is-value': { status: 400, text: 'terms: "{name}" is the value of "{term}"' },
  'term-label-malformed': {
    status: 400,
    text: 'options: the label of "{term}" is not a text of 1 to 200 characters',
    property: 'label',
  },
  'term-malformed': {
    status: 400,
    text: 'options: a term is neither a slug nor an object',
    property: 'options',
  },
  'term-not-slug': {
    status: 400,
    text: 'options: "{value}" is not a slug (lower case letters, digits, ".", "_", "-"; at most 100)',
    property: 'value',
  },
  'term-property-unknown': {
    status: 400,
    text: 'options: "{term}" has an unknown property {unknown}',
    property: 'options',
  },
  'term-repeated': { status: 400, text: 'options: the value "{term}" occurs twice', property: 'value' },
  'term-status-unknown': {
    status: 400,
    text: 'options: the status of "{term}" is not active, deprecated or archived',
    property: 'status',
  },
  'term-too-deep': {
    status: 400,
    text: 'terms: below "{parent}" there would be more than {max} levels',
    property: 'parent',
  },
  'term-without-value': { status: 400, text: 'options: a term has no value', property: 'value' },
  'terms-too-deep': { status: 400, text: 'terms: there would be more than {max} levels', property: 'parent' },
  'too-many-option-terms': { status: 400, text: 'options: more than {max} terms', property: 'options' },
  'too-many-terms': { status: 400, text: 'terms: more than {max}', property: 'terms' },
  'vocabulary-not-list': { status: 400, text: 'options: values is not a list', property: 'options' },

  // Values
  'field-archived': { status: 409, text: '{property} is archived' },
  'field-capability-missing': { status: 403, text: 'missing capability {capability} to write {property}' },
  'field-deprecated': { status: 409, text: '{property} is deprecated and accepts no new values' },
  'field-not-for-type': { status: 409, text: '{property} is not for assets of this type' },
  'field-read-only': { status: 403, text: '{property} is read-only' },
  'fields-required': { status: 422, text: 'required: {missing}' },
  'if-absent-exclusive': {
    status: 400,
    text: 'if_absent and if_unchanged_since are mutually exclusive',
    property: 'if_absent',
  },
  'value-above-maximum': { status: 422, text: '{property} is above {limit}' },
  'value-after-maximum': { status: 422, text: '{property} is after {limit}' },
  'value-asset-not-found': { status: 422, text: '{property}: asset {asset} not found' },
  'value-before-minimum': { status: 422, text: '{property} is before {limit}' },
  'value-below-minimum': { status: 422, text: '{property} is below {limit}' },
  'value-blank-term': { status: 422, text: '{property}: a term is not blank' },
  'value-empty': { status: 400, text: '{property} is empty; delete the value instead' },
  'value-exceeds-column': { status: 400, text: '{property} is longer than {max} characters' },
  'value-exceeds-term': { status: 422, text: '{property}: a term has at most 200 characters' },
  'value-exists': { status: 409, text: 'the field already has a value' },
  'value-field-not-found': { status: 404, text: 'field {field} not found' },
  'value-field-unclear': { status: 400, text: 'each of field_values has either field_id or field_code' },
  'value-in-other-member': { status: 400, text: '{property} takes {member}, not {other}' },
  'value-member-missing': { status: 400, text: '{member} is missing' },
  'value-not-boolean': { status: 400, text: '{property} is neither 0 nor 1' },
  'value-not-date': { status: 422, text: '{property} is no date' },
  'value-not-day': { status: 400, text: '{property} is not a day, like 2026-11-21' },
  'value-not-finite': { status: 400, text: '{property} is not a finite number' },
  'value-not-instant': { status: 400, text: '{property} is not a time with its offset' },
  'value-not-matching': { status: 422, text: '{property} does not match {pattern}' },
  'value-not-multiple-of-step': { status: 422, text: '{property} is no multiple of {limit}' },
  'value-not-whole': { status: 422, text: '{property} is not a whole number' },
  'value-term-has-narrower': {
    status: 422,
    text: '{property}: {term} has narrower terms; name one of them',
  },
  'value-term-not-active': { status: 422, text: '{property}: the term {term} is {status}' },
  'value-term-unknown': { status: 422, text: '{property}: unknown term {term}' },
  'value-text-too-long': { status: 422, text: '{property} is longer than {limit} characters' },
  'value-text-too-short': { status: 422, text: '{property} is shorter than {limit} characters' },
  'value-too-few-terms': { status: 422, text: '{property} has fewer than {limit} terms' },
  'value-too-many-terms': { status: 422, text: '{property} has more than {limit} terms' },
  'value-names-too-many-terms': { status: 400, text: '{property} names too many terms' },
  'value-without-text': { status: 400, text: '{property}: no text is left after sanitising' },
  'vocabulary-capability-missing': {
    status: 403,
    text: 'missing capability fields.vocabulary.extend to add {term} to {property}',
  },
  'vocabulary-full': { status: 422, text: '{property}: the vocabulary is full' },

  // Filters
  'filter-field-not-found': { status: 400, text: 'filter: there is no field "{field}"', property: 'filter' },
  'filter-malformed': {
    status: 400,
    text: 'filter "{filter}" is not field:<code><op><value>',
    property: 'filter',
  },
  'filter-operator-not-for-type': {
    status: 400,
    text: 'filter: {field} takes {allowed}, not {operator}',
    property: 'filter',
  },
  'filter-value-invalid': {
    status: 400,
    text: 'filter: "{value}" is not {expected}, which {field} takes',
    property: 'filter',
  },
} as const satisfies ErrorDefinitions;
