//! Functions on IP prefixes.
//!
//! Host and network numbers work as in OpenTofu. It computes with signed numbers of any size, and checks only the
//! lowest 64 bits to see whether a number fits.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Zero};

use super::{
    address::{Address, Prefix},
    call::{Call, FunctionError, NOT_WHOLE},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Number, Type, Value};

const PREFIX: Parameter = Parameter::string("prefix");

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "cidrhost",
        &[PREFIX, Parameter::number("hostnum")],
        Returns::Fixed(Shape::String),
        cidrhost,
        "Returns the address of a host within a prefix, counted from the end if negative.",
    ),
    Function::new(
        "cidrnetmask",
        &[PREFIX],
        Returns::Fixed(Shape::String),
        cidrnetmask,
        "Returns the network mask of an IPv4 prefix.",
    ),
    Function::new(
        "cidrsubnet",
        &[PREFIX, Parameter::number("newbits"), Parameter::number("netnum")],
        Returns::Fixed(Shape::String),
        cidrsubnet,
        "Returns one of the subnets of a prefix, whose prefixes are longer by a number of bits.",
    ),
    Function::new(
        "cidrsubnets",
        &[PREFIX],
        Returns::Fixed(Shape::ListOfString),
        cidrsubnets,
        "Lists consecutive subnets of a prefix, whose prefixes are longer by the given numbers of bits.",
    )
    .variadic(Parameter::number("newbits")),
    Function::new(
        "cidrcontains",
        &[Parameter::string("containing_prefix"), Parameter::string("contained_ip_or_prefix")],
        Returns::Fixed(Shape::Bool),
        cidrcontains,
        "Returns true if an address or a prefix lies within a prefix.",
    ),
];

fn hidden_if_secret(call: &Call<'_>, message: String) -> String {
    if call.secret { "invalid CIDR address".to_owned() } else { message }
}

fn prefix(call: &Call<'_>) -> Result<Prefix, String> {
    let prefix = Prefix::parse(call.text(0));
    prefix
        .map_err(|message| format!("invalid CIDR expression: {}", hidden_if_secret(call, message)))
}

/// Returns a whole number, clamped: any value beyond the address width is equally out of range. `None` if the
/// number is not whole.
fn big(number: &Number) -> Option<BigInt> {
    const MOST: f64 = 1e60;
    if !number.is_integer() {
        return None;
    }
    let magnitude = match number.magnitude().compare(&Number::from(MOST)).is_lt() {
        true => number.whole_magnitude(),
        false => BigUint::one() << 200,
    };
    let sign = if number.is_negative() { Sign::Minus } else { Sign::Plus };
    Some(BigInt::from_biguint(sign, magnitude))
}

fn big_argument(call: &Call<'_>, position: usize) -> Result<BigInt, FunctionError> {
    big(call.number(position)?).ok_or_else(|| FunctionError::new("value must be a whole number"))
}

fn whole(call: &Call<'_>, position: usize) -> Result<i64, &'static str> {
    call.args[position].as_number().and_then(Number::to_i64).ok_or(NOT_WHOLE)
}

/// Returns the address with a number added in the bits before the last `free` ones.
fn with_number(base: &Address, number: &BigInt, free: usize) -> Result<Address, FunctionError> {
    let combined = BigInt::from(base.to_number()) | (number << free);
    // A negative number counts by its magnitude, as in OpenTofu.
    Address::of_number(combined.magnitude(), base.bits())
        .ok_or_else(|| FunctionError::new("the result is no address of the same family"))
}

fn low_bits(number: &BigInt) -> u64 {
    number.magnitude().iter_u64_digits().next().unwrap_or(0)
}

fn cidrhost(call: &Call<'_>) -> Result<Value, FunctionError> {
    let number = big_argument(call, 1)?;
    let prefix = prefix(call).map_err(FunctionError::new)?;
    let most = (BigInt::one() << (prefix.first.bits() - prefix.length)) - BigInt::one();
    let (number, compared) = match number.sign() {
        Sign::Minus => {
            let below: BigInt = -number - BigInt::one();
            (&most - &below, below)
        }
        _ => {
            let compared = BigInt::from(low_bits(&number).cast_signed());
            (number, compared)
        }
    };
    if compared > most {
        let (length, number) = (call.shown(prefix.length), call.shown(number));
        let message = format!("prefix of {length} does not accommodate a host numbered {number}");
        return Err(FunctionError::new(message));
    }
    // For an IPv4-mapped address, OpenTofu puts the number into the first bits.
    let is_mapped = prefix.first.bits() == 128 && prefix.first.as_four().is_some();
    let address = with_number(&prefix.first, &number, if is_mapped { 96 } else { 0 })?;
    Ok(Value::string(address.to_text()))
}

fn cidrnetmask(call: &Call<'_>) -> Result<Value, FunctionError> {
    let prefix = prefix(call).map_err(FunctionError::new)?;
    if prefix.first.as_four().is_none() {
        let text = call.shown(call.text(0));
        let message = format!("IPv6 addresses cannot have a netmask: {text}");
        return Err(FunctionError::new(message));
    }
    Ok(Value::string(prefix.mask().to_text()))
}

fn cidrsubnet(call: &Call<'_>) -> Result<Value, FunctionError> {
    let more = whole(call, 1).map_err(FunctionError::new)?;
    let number = big_argument(call, 2)?;
    let prefix = prefix(call).map_err(FunctionError::new)?;
    let (length, bits) = (prefix.length, prefix.first.bits());
    let shown = |number: &dyn std::fmt::Display| call.shown(number);
    let longer = i64::try_from(length).unwrap_or(0).saturating_add(more);
    if longer > i64::try_from(bits).unwrap_or(0) {
        return Err(FunctionError::new(format!(
            "insufficient address space to extend prefix of {} by {}",
            shown(&length),
            shown(&more)
        )));
    }
    let longer = usize::try_from(longer)
        .map_err(|_| FunctionError::new("the prefix would be shorter than nothing"))?;
    // A negative extension, or one of more than 63 bits, fits every number of 64 bits.
    let most = u32::try_from(more).ok().and_then(|more| 1_u64.checked_shl(more)).unwrap_or(0);
    if low_bits(&number) > most.wrapping_sub(1) {
        return Err(FunctionError::new(format!(
            "prefix extension of {} does not accommodate a subnet numbered {}",
            shown(&more),
            shown(&number)
        )));
    }
    let first = with_number(&prefix.first, &number, bits - longer)?;
    Ok(Value::string(Prefix { first, length: longer }.to_text()))
}

fn cidrsubnets(call: &Call<'_>) -> Result<Value, FunctionError> {
    let network = prefix(call).map_err(|message| FunctionError::at(0, message))?;
    let bits = network.first.bits();
    let mut networks = Vec::new();
    // `next` is the number after the last network, and `current` is that network. Before the first network, `next`
    // is the first number of the prefix and `current` is `None`.
    let mut next = network.first.to_number();
    let mut current: Option<Prefix> = None;
    for position in 1..call.args.len() {
        let more = whole(call, position).map_err(|message| FunctionError::at(position, message))?;
        let length = extended(call, &network, more).map_err(|m| FunctionError::at(position, m))?;
        let start = Address::of_number(&aligned(&next, bits - length), bits);
        let found = start.map(|first| Prefix { first, length });
        let found = found.filter(|it| network.contains(&it.first)).ok_or_else(|| {
            let last = current.as_ref().map_or_else(|| "none".to_owned(), Prefix::to_text);
            let last = if call.secret { "the last one".to_owned() } else { last };
            let length = call.shown(length);
            let message = format!(
                "not enough remaining address space for a subnet with a prefix of {length} bits after {last}"
            );
            FunctionError::at(position, message)
        })?;
        next = found.last().to_number() + BigUint::one();
        networks.push(Value::string(found.to_text()));
        current = Some(found);
    }
    Ok(Value::list(Type::String, networks))
}

/// Returns the length of a prefix with more bits.
fn extended(call: &Call<'_>, network: &Prefix, more: i64) -> Result<usize, String> {
    let more = usize::try_from(more).ok().filter(|more| *more > 0);
    let more = more.ok_or("must extend prefix by at least one bit")?;
    if more > 32 {
        return Err("may not extend prefix by more than 32 bits".to_owned());
    }
    let (length, bits) = (network.length + more, network.first.bits());
    if length > bits {
        let family = if bits == 32 { "IPv4" } else { "IPv6" };
        let length = call.shown(length);
        return Err(format!(
            "would extend prefix to {length} bits, which is too long for an {family} address"
        ));
    }
    Ok(length)
}

/// Returns the first number that is not less than `number` and whose last bits are zero.
fn aligned(number: &BigUint, zeros: usize) -> BigUint {
    let mask = (BigUint::one() << zeros) - BigUint::one();
    if (number & &mask).is_zero() { number.clone() } else { (number | mask) + BigUint::one() }
}

fn cidrcontains(call: &Call<'_>) -> Result<Value, FunctionError> {
    let containing = Prefix::parse(call.text(0))
        .map_err(|message| FunctionError::new(hidden_if_secret(call, message)))?;
    let text = call.text(1);
    let (first, last) = match (Address::parse(text), Prefix::parse(text)) {
        (Some(address), _) => (address.clone(), address),
        (None, Ok(prefix)) => (prefix.first.clone(), prefix.last()),
        (None, Err(_)) => {
            let text = call.shown(text);
            return Err(FunctionError::new(format!("invalid IP address or prefix: {text}")));
        }
    };
    if first.as_four().is_some() != containing.first.as_four().is_some() {
        let message = match call.secret {
            true => "address family mismatch".to_owned(),
            false => format!("address family mismatch: {} vs. {text}", call.text(0)),
        };
        return Err(FunctionError::new(message));
    }
    Ok(Value::bool([first, last].iter().all(|address| is_within(address, &containing))))
}

/// Returns true if a prefix contains an address. An IPv4-mapped address counts as IPv4 in an IPv4 prefix; an IPv6
/// prefix contains no IPv4 address.
fn is_within(address: &Address, containing: &Prefix) -> bool {
    let four = address.as_four().map(|bytes| Address(bytes.to_vec()));
    match (four, containing.first.bits()) {
        (Some(address), 32) => containing.contains(&address),
        (Some(_), _) => address.bits() == 128 && containing.contains(address),
        (None, _) => containing.contains(address),
    }
}
