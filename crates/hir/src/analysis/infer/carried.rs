//! The ephemerality of the parts that a function carries into its result, if the result cannot be composed part by
//! part.

use values::{
    Str, Type,
    functions::Function,
    rules::{self, Domain, MarkRule, RuleId},
};

use crate::{
    analysis::{
        infer::{Infer, constructor::key_text},
        value::{
            Abstract,
            inside::{Inside, Presence},
            when::{Ephemerality, Test, When},
        },
    },
    expr::{Call, ExprId},
};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'c> {
    /// The expressions of the arguments. Empty if the last argument is expanded (`...`), so that expressions and
    /// values do not correspond.
    pub(super) at: &'c [ExprId],
    /// The values of the arguments.
    pub(super) values: &'c [Abstract],
}

impl Infer<'_> {
    /// The ephemerality of the result of `element` or `lookup` if it is not known which part is selected.
    pub(super) fn of_chosen(
        &mut self,
        function: &Function,
        arguments: Arguments<'_>,
    ) -> Ephemerality {
        let Arguments { at, values: args } = arguments;
        let container = &args[0];
        let found = match (function.name, at.get(..2)) {
            ("lookup", Some(&[of, key])) => return self.of_lookup(of, key, args),
            ("element", Some(&[_, index])) => match &container.inside {
                Inside::Items(items) if !items.is_empty() => {
                    let length = items.len();
                    let tests = items.iter().enumerate();
                    let tests: Vec<_> = tests
                        .map(|(position, it)| (Test::Wraps { length, position }, &it.ephemeral))
                        .collect();
                    self.selected(index, &tests, self.has_showable_shape(container))
                }
                _ => some_element(container),
            },
            _ => some_element(container),
        };
        let either = args.get(2).map_or(found.clone(), |default| {
            Ephemerality::choose(&When::depends([]), &found, &default.ephemeral)
        });
        either.map(|when| match when.is_vague() {
            true => self.weakened_by(when, at.iter().copied()),
            false => when.clone(),
        })
    }

    fn of_lookup(&mut self, of: ExprId, key: ExprId, args: &[Abstract]) -> Ephemerality {
        let (container, default) = (&args[0], args.get(2));
        let otherwise = default.map(|it| it.ephemeral.clone());
        let name = key_text(&args[1]);
        match (&container.inside, name) {
            (Inside::Attrs(attrs), None) => {
                // Without a default, the key is one of the existing names, so the first entry can serve as the
                // default.
                let start = otherwise.unwrap_or_else(|| {
                    attrs.values().next().map(|it| it.ephemeral.clone()).unwrap_or_default()
                });
                if attrs.values().all(|it| it.ephemeral == start) {
                    return start;
                }
                attrs.iter().fold(start, |all, (name, part)| {
                    let test = Test::Key(name.clone());
                    let is_it = self.tested_if(self.has_showable_shape(container), key, test);
                    Ephemerality::choose(&is_it, &part.ephemeral, &all)
                })
            }
            (Inside::Attrs(attrs), Some(name)) => match attrs.get(&name) {
                Some(part) => part.ephemeral.clone(),
                None => otherwise.unwrap_or_default(),
            },
            (Inside::Opaque(_), None) if has_few_constants(container) => {
                let Some(otherwise) = otherwise else { return Ephemerality::NEVER };
                let names = container.known_elements(MAX_NAMES).unwrap_or_default();
                let is_none = names.iter().filter_map(|(name, _)| key_text(name));
                let is_none = is_none.map(|name| self.tested(key, Test::Key(name)).not());
                let is_none = is_none.fold(When::Always, |all, it| all.and(&it));
                Ephemerality::choose(&is_none, &otherwise, &Ephemerality::NEVER)
            }
            (_, name) => {
                let found = some_element(container);
                let Some(otherwise) = otherwise.filter(|it| *it != found) else { return found };
                let has = match name.filter(|_| matches!(container.ty, Type::Map(_))) {
                    Some(name) if self.is_showable(&args[1]) => self.tested(of, Test::HasKey(name)),
                    _ => When::depends(self.reads_of(of).into_iter().chain(self.reads_of(key))),
                };
                Ephemerality::choose(&has, &found, &otherwise)
            }
        }
    }

    /// The ephemerality of the result of a function that carries parts of its arguments.
    pub(super) fn of_carried(
        &mut self,
        function: &Function,
        arguments: Arguments<'_>,
    ) -> Ephemerality {
        let Arguments { at, values: args } = arguments;
        let all = args.iter().fold(When::Never, |all, it| all.or(it.ephemeral.inside()));
        if all.is_never() {
            return Ephemerality::NEVER;
        }
        match function.name {
            // Every part is in the result.
            "concat" | "reverse" | "values" | "chunklist" => Ephemerality::new(When::Never, all),
            "flatten" => Ephemerality::new(dissolved(&args[0]), all),
            "merge" => Ephemerality::new(When::Never, self.of_merged(at, args)),
            "zipmap" => Ephemerality::new(When::Never, self.of_zipped(at, &args[1])),
            _ => Ephemerality::new(When::Never, self.weakened_by(&all, at.iter().copied())),
        }
    }

    /// The condition that the result of `merge` contains something ephemeral. Among entries of the same name, the
    /// last one stays.
    fn of_merged(&mut self, at: &[ExprId], args: &[Abstract]) -> When {
        let mut all = When::Never;
        for (position, arg) in args.iter().enumerate() {
            let later = position + 1..args.len();
            let Inside::Attrs(attrs) = &arg.inside else {
                let is_last = later.clone().all(|it| args[it].known_length() == Some(0));
                let when = arg.ephemeral.inside();
                let of_later = at.get(position + 1..).unwrap_or_default();
                all = all.or(&match is_last {
                    true => when.clone(),
                    false => self.weakened_by(when, of_later.iter().copied()),
                });
                continue;
            };
            // A null among the arguments counts as empty.
            let is_there = arg.ephemeral.inside();
            for (name, part) in attrs.iter().filter(|(_, it)| !it.ephemeral.is_never()) {
                let is_showable = self.has_showable_shape(arg);
                let stays = later
                    .clone()
                    .map(|it| self.lacks(at.get(it).copied(), &args[it], name, is_showable));
                let stays = stays.fold(When::Always, |all, it| all.and(&it));
                let mut when = part.ephemeral.somewhere().and(&stays);
                if arg.presence == Presence::Open {
                    when = when.and(is_there);
                }
                all = all.or(&when);
            }
        }
        all
    }

    /// The condition that the result of `zipmap` contains something ephemeral. Among values with the same key, the
    /// last one stays. There are as many keys as values.
    fn of_zipped(&self, at: &[ExprId], values: &Abstract) -> When {
        match &values.inside {
            Inside::Each(_) => values.ephemeral.inside().clone(),
            Inside::Items(items) if values.presence > Presence::Open => {
                let last = items.last().map_or(When::Never, |it| it.ephemeral.somewhere());
                match values.ephemeral.inside() {
                    When::Never => When::Never,
                    _ if last == When::Always => last,
                    when => self.weakened_by(when, at.iter().copied()),
                }
            }
            _ => self.weakened_by(values.ephemeral.inside(), at.iter().copied()),
        }
    }

    /// The condition that an argument has no entry of a name. The formula names the entry only if `is_showable`.
    fn lacks(&self, at: Option<ExprId>, arg: &Abstract, name: &Str, is_showable: bool) -> When {
        match (&arg.inside, &arg.ty, at) {
            _ if arg.is_null() => When::Always,
            (Inside::Attrs(attrs), ..) if attrs.get(name).is_none() => When::Always,
            (Inside::Attrs(_), ..) if arg.presence > Presence::Open => When::Never,
            (Inside::Opaque(_), _, _) if arg.known_length().is_some() => {
                if arg.attr(name).is_some() { When::Never } else { When::Always }
            }
            (_, Type::Object(object), _) if object.get(name).is_none() => When::Always,
            (_, Type::Object(_), Some(at)) => self.tested(at, Test::Null),
            (_, Type::Map(_), Some(at)) => {
                self.tested_if(is_showable, at, Test::HasKey(name.clone())).not()
            }
            (_, _, Some(at)) => self.depends(at),
            (_, _, None) => When::depends([]),
        }
    }

    /// The condition that something in the expanded argument is ephemeral. The marks of the collection go on its
    /// elements, and on the result if it has none.
    fn of_spread(&mut self, call: &Call, last: Option<&Abstract>) -> When {
        let Some((last, at)) = last.zip(call.args.last()) else { return When::Never };
        let inside = last.ephemeral.inside().clone();
        let from_empty = self.contribution(RuleId::EmptyExpansion, last).when;
        match last.ephemeral.here() {
            When::Never => inside,
            here if !from_empty.is_never() && !matches!(last.inside, Inside::Opaque(_)) => {
                here.or(&inside)
            }
            here if !from_empty.is_never() => here.or(&self.weakened_by(&inside, [*at])),
            // The position of each element is not known, and the mark of an empty collection is lost.
            _ if !inside.is_never() && matches!(last.inside, Inside::Opaque(_)) => {
                self.weakened_by(&last.ephemeral.somewhere(), [*at])
            }
            here => here.and(&self.has_elements(*at, last)).or(&inside),
        }
    }

    /// The ephemerality of the result of a call with an unknown number of arguments.
    pub(super) fn of_any_number(
        &mut self,
        function: Option<&Function>,
        rule: RuleId,
        call: &Call,
        args: &[Abstract],
    ) -> Ephemerality {
        let written = args.len().saturating_sub(1);
        let all = args.iter().take(written);
        let all = all.fold(When::Never, |all, it| all.or(&it.ephemeral.somewhere()));
        let spread = self.of_spread(call, args.last());
        let all = all.or(&spread);
        let is_carried = rule == RuleId::CarryingFunction;
        match rules::rule(rule, Domain::Abstract) {
            _ if all.is_never() => Ephemerality::NEVER,
            MarkRule::UnionDeep if !is_carried => Ephemerality::new(all, When::Never),
            MarkRule::UnionTop if function.is_some_and(|it| it.name == "concat") => {
                let here = args.iter().take(written);
                let here = here.fold(spread.weakened(), |any, it| any.or(it.ephemeral.here()));
                // The expanded lists dissolve in the result.
                Ephemerality::new(here, all)
            }
            _ => {
                let vague = self.weakened_by(&all, call.args.iter().copied());
                let inside = if is_carried { vague.clone() } else { When::Never };
                Ephemerality::new(vague, inside)
            }
        }
    }
}

/// The largest number of names that conditions distinguish one by one.
const MAX_NAMES: usize = 8;

fn has_few_constants(container: &Abstract) -> bool {
    container.plain_constant().is_some()
        && container.known_length().is_some_and(|it| it <= MAX_NAMES)
}

/// The ephemerality of an arbitrary element of a container.
fn some_element(container: &Abstract) -> Ephemerality {
    container.any_element().ephemeral
}

/// The condition that a list inside is ephemeral itself: `flatten` dissolves it, and its mark goes on the whole.
fn dissolved(list: &Abstract) -> When {
    let of_element = |element: &Abstract| match &element.ty {
        // A null is no list and stays an element.
        Type::List(_) | Type::Set(_) | Type::Tuple(_) if element.presence == Presence::Open => {
            element.ephemeral.here().or(&dissolved(element)).weakened()
        }
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
            element.ephemeral.here().or(&dissolved(element))
        }
        Type::Dynamic => element.ephemeral.somewhere().weakened(),
        _ => When::Never,
    };
    match &list.inside {
        _ if list.ephemeral.inside().is_never() => When::Never,
        Inside::Items(items) => items.iter().fold(When::Never, |any, it| any.or(&of_element(it))),
        Inside::Each(element) => of_element(element).weakened(),
        Inside::Attrs(_) => When::Never,
        Inside::Opaque(_) => match list.ty.element() {
            Some(element) if element.is_primitive() => When::Never,
            _ => list.ephemeral.inside().weakened(),
        },
    }
}
