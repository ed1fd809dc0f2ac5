//! Functions that carry parts of their arguments into their result. To find where each part ends up, the function
//! is called with tagged values.

use values::{
    Kind, Type, Value,
    functions::Function,
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    analysis::{
        infer::{
            EmptyEnvironment, Infer,
            call::of_result,
            carried::Arguments,
            constructor::key_text,
            flow::{Contribution, Flow},
        },
        value::{
            Abstract,
            inside::{Inside, Presence},
            marks::TriMarks,
            runtime::Tags,
            when::{Ephemerality, When},
        },
    },
    expr::{Call, ExprId},
    item::ConstValue,
};

impl Infer<'_> {
    /// Returns the result of a call with the marks of its parts. `result` is the result of the call without marks.
    pub(super) fn carry(
        &mut self,
        function: &Function,
        call: &Call,
        args: &[Abstract],
        ty: &Type,
        result: &Value,
    ) -> Abstract {
        let plain = of_result(args, ty, result);
        let plain = if depends_on_open_types(function, args) { plain.undecided() } else { plain };
        let is_in_force = rules::rule(function.rule, Domain::Abstract) == MarkRule::UnionTop;
        if !is_in_force || args.iter().all(|arg| arg.deep_marks() == TriMarks::NONE) {
            return plain;
        }
        let args: Vec<Abstract> = args
            .iter()
            .enumerate()
            .map(|(position, arg)| {
                let shape = function.parameter(position).map_or(Type::Dynamic, |it| it.shape.ty());
                self.converted(arg, &shape)
            })
            .collect();
        let args = args.as_slice();
        let mut flow = self.merged(function, args);
        let at: &[ExprId] = if call.expand { &[] } else { &call.args };
        let arguments = Arguments { at, values: args };
        if let Some(chosen) = self.chosen_part(function, arguments, &mut flow) {
            return flow.onto(Abstract { ty: ty.clone(), ..self.converted(&chosen, ty) });
        }
        let mut tags = Tags::default();
        let tagged = args.iter().enumerate().map(|(position, arg)| {
            if function.parameter(position).is_some_and(|it| it.is_carried) {
                arg.tagged(&mut tags)
            } else if is_list_of_keys(function, position) {
                arg.plain_value()
            } else {
                arg.tagged_parts(&mut tags)
            }
        });
        let tagged: Vec<Value> = tagged.collect();
        match function.call(&tagged, &EmptyEnvironment(&self.budget)) {
            Ok(result) if result.is_known() && !depends_on_open_types(function, args) => {
                flow.onto(Abstract { ty: ty.clone(), ..found(&result, &tags) })
            }
            _ => self.scattered(flow, function, arguments, plain),
        }
    }

    /// The marks that go on the result itself.
    fn merged(&self, function: &Function, args: &[Abstract]) -> Flow {
        let mut flow = Flow::default();
        for (position, arg) in args.iter().enumerate() {
            if !function.parameter(position).is_some_and(|it| it.is_carried) {
                flow.add(self.contribution(function.rule, arg), arg);
            }
            if is_list_of_keys(function, position) {
                flow.add(self.contribution(RuleId::ZipmapKeys, arg), arg);
            }
        }
        flow
    }

    /// The part that `element` or `lookup` returns unchanged. `None` for other functions.
    fn chosen_part(
        &mut self,
        function: &Function,
        arguments: Arguments<'_>,
        flow: &mut Flow,
    ) -> Option<Abstract> {
        let args = arguments.values;
        let container = &args[0];
        let is_known = container.presence == Presence::Known;
        let found = match function.name {
            "element" if is_known => {
                let index = args[1].constant.as_ref().and_then(|it| it.0.as_number()?.to_i64());
                wrapped(index, container.known_length()).and_then(|at| container.item(at))
            }
            "lookup" if is_known && container.known_length().is_some() => key_text(&args[1])
                .and_then(|name| container.attr(&name).or_else(|| args.get(2).cloned())),
            "element" | "lookup" => None,
            _ => return None,
        };
        if let Some(found) = found {
            let origin = args.iter().find_map(|arg| arg.origin.clone());
            return Some(found.with_origin(origin));
        }
        // While it is not known which part is selected, the result has the marks of all.
        args.iter().for_each(|arg| flow.add_maybe(arg));
        let any = container.any_element();
        let any = match args.get(2) {
            Some(default) => any.either(default),
            None => any,
        };
        let ephemeral = self.of_chosen(function, arguments);
        Some(Abstract { ephemeral, ..any.undecided() })
    }
}

/// Returns true if the result depends on types that are not known yet: `flatten` dissolves lists, including those
/// that turn out to be lists later.
fn depends_on_open_types(function: &Function, args: &[Abstract]) -> bool {
    function.name == "flatten" && args.iter().any(|arg| !arg.failing.is_typed_early)
}

/// The position that the index of `element` selects, with wrapping.
fn wrapped(index: Option<i64>, length: Option<usize>) -> Option<usize> {
    let length = i64::try_from(length?).ok().filter(|length| *length > 0)?;
    usize::try_from(index?.rem_euclid(length)).ok()
}

/// Returns true for the first argument of `zipmap`, the names of the result.
fn is_list_of_keys(function: &Function, position: usize) -> bool {
    function.name == "zipmap" && position == 0
}

impl Infer<'_> {
    /// The result if it is not known which part of the arguments ends up where: each may be a part of the result or
    /// dissolve in it.
    fn scattered(
        &mut self,
        mut flow: Flow,
        function: &Function,
        arguments: Arguments<'_>,
        plain: Abstract,
    ) -> Abstract {
        let mut inner = Flow::default();
        for (position, arg) in arguments.values.iter().enumerate() {
            flow.add_maybe(arg);
            if !is_list_of_keys(function, position) {
                let (marks, when) = (arg.inner_marks(), When::Never);
                inner.add(Contribution { marks, when }.weakened(), arg);
            }
        }
        let ephemeral = self.of_carried(function, arguments);
        let inside = Inside::Opaque(inner.marks());
        let value = Abstract { inside, constant: None, ephemeral, ..plain.undecided() };
        flow.onto(value.with_origin(inner.origin()))
    }
}

/// The abstract value of a tagged result.
fn found(value: &Value, tags: &Tags) -> Abstract {
    if !value.is_marked_deep() {
        return Abstract::constant(value.clone());
    }
    let parts: Vec<&Abstract> = tags.of(value).collect();
    let whole = match (value.kind(), parts.as_slice()) {
        (Kind::Object(attrs) | Kind::Map(attrs), _) => Abstract::object(
            attrs.iter().map(|(name, it)| (name.clone(), found(it, tags))).collect(),
        ),
        (Kind::Tuple(items) | Kind::List(items), _) => {
            Abstract::tuple(items.iter().map(|item| found(item, tags)).collect())
        }
        (_, [part]) => {
            let ephemeral = part.ephemeral.only_inside();
            Abstract { marks: TriMarks::NONE, ephemeral, ..Abstract::clone(part) }
        }
        (_, parts) => {
            let inner = parts.iter().fold(TriMarks::NONE, |all, it| all.union(&it.inner_marks()));
            let plain = Abstract::constant(value.without_all_marks());
            let when = parts.iter().fold(When::Never, |all, it| all.or(it.ephemeral.inside()));
            let ephemeral = Ephemerality::new(When::Never, when.weakened());
            Abstract { inside: Inside::Opaque(inner.weakened()), ephemeral, ..plain }
        }
    };
    let mut flow = Flow::default();
    for part in &parts {
        let when = part.ephemeral.here().clone();
        flow.add(Contribution { marks: part.marks, when }, part);
    }
    let origin = parts.iter().find_map(|part| part.origin.clone());
    let constant = value.is_wholly_known().then(|| ConstValue::shared(value.without_all_marks()));
    flow.onto(Abstract { ty: value.ty(), constant, ..whole }.with_origin(origin))
}
