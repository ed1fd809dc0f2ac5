//! The page for readers of all kinds: its structure, as a screen reader announces it, and the contrast of its colours.

use sorted::TreeMap;

use crate::html::page::CSS;

/// Checks what every page has: a language, a title, the landmarks in their order, headings without gaps between their
/// levels, named regions, and tables whose header cells say what they are about.
#[track_caller]
pub(super) fn check_structure(html: &str) {
    assert!(html.contains("<html lang=\"en\">\n"));
    let title = between(html, "<title>", "</title>");
    assert!(!title.trim().is_empty());
    assert_eq!(between(html, "<h1>", "</h1>"), title, "the heading of the page is its title");
    for landmark in ["header", "main", "footer", "h1", "title"] {
        let tags = html.matches(&format!("<{landmark}>")).count();
        assert_eq!(tags, 1, "<{landmark}>");
    }
    let order = ["<a class=\"skip\" href=\"#changes\">", "<header>", "<main>", "<footer>"];
    let at: Vec<usize> = order.iter().filter_map(|it| html.find(it)).collect();
    assert!(at.len() == order.len() && at.is_sorted(), "{at:?}");
    assert!(html.contains(" id=\"changes\""), "the link to the changes leads to them");
    check_headings(html);
    let starts = |tag: &'static str| html.split(tag).skip(1).map(|it| it.split('>').next());
    let is_named = |it: Option<&str>| it.is_some_and(|it| it.contains(" aria-label"));
    assert!(starts("<section").all(is_named) && starts("<form").all(is_named));
    assert!(starts("<th").all(|it| it.is_some_and(|it| it == "ead" || it.contains(" scope="))));
}

/// A reader that jumps from heading to heading must not miss a level.
#[track_caller]
fn check_headings(html: &str) {
    let mut level = 0;
    for after in html.split("<h").skip(1) {
        let Some(next) = after.chars().next().and_then(|it| it.to_digit(10)) else { continue };
        assert!(next <= level + 1, "level {next} after {level}: {}", &after[..after.len().min(60)]);
        level = next;
    }
}

fn between<'h>(html: &'h str, start: &str, end: &str) -> &'h str {
    let (_, rest) = html.split_once(start).expect("has the element");
    rest.split_once(end).expect("is closed").0
}

/// A colour as red, green and blue from 0 to 1.
#[derive(Clone, Copy)]
struct Colour([f64; 3]);

impl Colour {
    fn parse(text: &str) -> Option<Colour> {
        let digits = text.trim().strip_prefix('#').filter(|it| it.len() == 6)?;
        let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        Some(Colour([part(0)?, part(2)?, part(4)?].map(|it| f64::from(it) / 255.0)))
    }

    /// The colour with a share of another one, as `color-mix(in srgb, …)` makes it.
    fn mixed(self, other: Colour, share: f64) -> Colour {
        let mix = |at: usize| self.0[at] * (1.0 - share) + other.0[at] * share;
        Colour([mix(0), mix(1), mix(2)])
    }

    /// The relative luminance of WCAG 2.
    fn luminance(self) -> f64 {
        let linear = |it: f64| match it <= 0.04045 {
            true => it / 12.92,
            false => ((it + 0.055) / 1.055).powf(2.4),
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// The contrast ratio of WCAG 2, from 1 to 21.
    fn contrast(self, other: Colour) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

/// The colours of a theme by their variables.
type Theme = TreeMap<String, Colour>;

/// The light and the dark theme, from the style of the page.
fn themes() -> [Theme; 2] {
    let mut roots = CSS.split(":root {").skip(1).map(|it| it.split('}').next().unwrap_or(""));
    let theme = |text: &str| {
        let variables =
            text.split(';').filter_map(|it| it.trim().strip_prefix("--")?.split_once(':'));
        variables.filter_map(|(name, it)| Some((name.to_owned(), Colour::parse(it)?))).collect()
    };
    let [light, dark] = [roots.next(), roots.next()].map(|it| it.expect("a theme"));
    assert!(roots.next().is_none());
    [theme(light), theme(dark)]
}

/// The variables for surfaces. All others are for text, lines and marks.
const SURFACES: [&str; 5] = ["bg", "panel", "add-line", "del-line", "mod-line"];

/// The variables for borders: of areas, which decorate, and of controls.
const BORDERS: [&str; 2] = ["edge", "control"];

#[test]
fn text_has_contrast_on_every_surface_of_both_themes() {
    for (name, theme) in ["light", "dark"].into_iter().zip(themes()) {
        let surface = |it: &str| (it.to_owned(), theme[it]);
        let mut surfaces: Vec<(String, Colour)> = SURFACES.map(surface).into();
        let hovered = "color-mix(in srgb, var(--panel), var(--text) 5%)";
        assert!(CSS.contains(hovered));
        surfaces.push(("a hovered line".to_owned(), theme["panel"].mixed(theme["text"], 0.05)));
        let is_text = |it: &&String| {
            !SURFACES.contains(&&***it) && !BORDERS.contains(&&***it) && *it != "focus"
        };
        for text in theme.keys().filter(is_text) {
            for (surface, colour) in &surfaces {
                let contrast = theme[text].contrast(*colour);
                assert!(contrast >= 4.5, "{name}: --{text} on {surface}: {contrast:.2}");
            }
        }
        for line in ["focus", "control"] {
            for surface in ["bg", "panel"] {
                let contrast = theme[line].contrast(theme[surface]);
                assert!(contrast >= 3.0, "{name}: --{line} on {surface}: {contrast:.2}");
            }
        }
    }
}

#[test]
fn colours_outside_of_the_themes_are_variables() {
    let [light, dark] = themes();
    assert!(light.len() > 10 && light.keys().eq(dark.keys()), "both themes have the same colours");
    let rules = CSS.rsplit_once("* { box-sizing").expect("the rules follow the themes").1;
    for declaration in
        rules.split(['{', ';', '}']).filter(|it| it.contains("color") || it.contains("background"))
    {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let words = ["inherit", "currentColor", "none", "exact"];
        let is_known = value.contains("var(--") || words.contains(&value.trim());
        assert!(is_known || property.contains("scheme"), "{declaration}");
    }
    assert!(!rules.contains('#') || !rules.split('#').skip(1).any(is_colour));
    let surface = |it: &str| {
        let value = it.split([';', '}']).next().unwrap_or_default();
        value.contains("color-mix") || SURFACES.iter().any(|it| value.contains(&format!("--{it})")))
    };
    assert!(rules.split("background: ").skip(1).all(surface));
}

/// Returns true if the text behind a `#` is a colour, and not an identifier.
fn is_colour(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    [3, 6, 8].contains(&digits) && !text[digits..].starts_with(|it: char| it.is_alphanumeric())
}
