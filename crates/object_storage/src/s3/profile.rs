//! The profiles in the files of AWS: `~/.aws/config` and `~/.aws/credentials`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use http_client::Url;

use crate::credentials::AwsKeys;
use crate::error::StorageError;
use crate::file::read;
use crate::storage::ObjectStorage;

/// The region of a bucket without one.
pub(super) const USUAL_REGION: &str = "us-east-1";

/// The settings of a profile.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(super) name: String,
    settings: BTreeMap<String, String>,
}

/// The settings of sections by name.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

/// The settings by which a program, a service or a role provides the keys of a profile.
const INDIRECT: [&str; 8] = [
    "credential_process",
    "credential_source",
    "login_session",
    "role_arn",
    "sso_account_id",
    "sso_session",
    "sso_start_url",
    "web_identity_token_file",
];

impl Profile {
    /// The value of a setting. `None` if it is unset or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// The keys of the profile. `None` if it has none.
    ///
    /// # Errors
    /// Returns a [`StorageError`] if something else than the profile itself provides its keys.
    pub(super) fn keys(&self) -> Result<Option<AwsKeys>, StorageError> {
        let name = &self.name;
        if let Some(setting) = INDIRECT.into_iter().find(|it| self.get(it).is_some()) {
            return Err(StorageError::Refused(format!(
                "the AWS profile {name:?} has {setting}, which is not supported; let \"aws configure \
                 export-credentials --profile {name} --format env\" print the keys as environment variables"
            )));
        }
        match (self.get("aws_access_key_id"), self.get("aws_secret_access_key")) {
            (Some(id), Some(secret)) => Ok(Some(AwsKeys {
                id: id.to_owned(),
                secret: secret.to_owned(),
                token: self.get("aws_session_token").map(str::to_owned),
            })),
            (None, None) => Ok(None),
            _ => Err(StorageError::Refused(format!(
                "the AWS profile {name:?} has only one of aws_access_key_id and aws_secret_access_key"
            ))),
        }
    }
}

impl ObjectStorage {
    /// Reads a profile: the given one, that of the environment, or `default`. `None` if no
    /// setting names it and no file has it.
    pub(crate) async fn profile(
        &self,
        given: Option<&str>,
    ) -> Result<Option<Profile>, StorageError> {
        let environment = &self.environment;
        let named = given.or_else(|| environment.first(&["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]));
        let name = named.unwrap_or("default");
        let files = [
            environment.path("AWS_CONFIG_FILE", ".aws/config"),
            environment.path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
        ];
        let mut settings: Option<BTreeMap<String, String>> = None;
        for (index, file) in files.iter().enumerate() {
            let Some(file) = file else { continue };
            let mut sections = read(file).await?.map(|it| sections(&it)).unwrap_or_default();
            // Only the file with the configuration has other sections than profiles.
            let section = match index == 0 && name != "default" {
                true => format!("profile {name}"),
                false => name.to_owned(),
            };
            if let Some(found) = sections.remove(&section) {
                // The file with the credentials comes last, and has precedence.
                settings.get_or_insert_default().extend(found);
            }
        }
        match settings {
            Some(settings) => Ok(Some(Profile { name: name.to_owned(), settings })),
            None if named.is_none() => Ok(None),
            None => Err(StorageError::Refused(format!(
                "there is no AWS profile {name:?} in {}",
                shown(&files)
            ))),
        }
    }

    /// The region that the environment or a profile names, or else the usual one.
    ///
    /// # Errors
    /// Returns a [`StorageError`] for a text that is no region.
    pub(super) fn usual_region(&self, profile: Option<&Profile>) -> Result<String, StorageError> {
        let named = self.environment.first(&["AWS_REGION", "AWS_DEFAULT_REGION"]);
        let named = named.or_else(|| profile?.get("region"));
        region(named.unwrap_or(USUAL_REGION))
    }

    /// The endpoint that the environment or a profile names in place of that of AWS. `variables` are those of one
    /// service. `None` if there is none.
    ///
    /// # Errors
    /// Returns a [`StorageError`] for a text that is no URL.
    pub(super) fn endpoint(
        &self,
        variables: &[&str],
        profile: Option<&Profile>,
    ) -> Result<Option<Url>, StorageError> {
        let ignored = self.environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
        if ignored.is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let named = self.environment.first(variables);
        let named = named.or_else(|| profile?.get("endpoint_url"));
        let parsed = named.map(Url::parse).transpose();
        parsed.map_err(|error| {
            StorageError::Refused(format!(
                "the endpoint in place of that of AWS cannot be used: {error}"
            ))
        })
    }
}

/// Checks the name of a region, which becomes a part of a host.
pub(super) fn region(text: &str) -> Result<String, StorageError> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-';
    match (1..=63).contains(&text.len()) && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err(StorageError::Refused(format!("{text:?} cannot be the name of a region"))),
    }
}

fn shown(files: &[Option<PathBuf>]) -> String {
    let shown = files.iter().flatten().map(|it| it.display().to_string());
    shown.collect::<Vec<_>>().join(" and ")
}

/// Parses the text of a file. Indented lines belong to the setting above, which is then no plain one.
pub(crate) fn sections(text: &str) -> Sections {
    let mut sections = Sections::new();
    let mut current = None;
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if line.trim().is_empty() || is_comment || line.starts_with([' ', '\t']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.split(']').next().unwrap_or_default();
            let words: Vec<&str> = name.split_whitespace().collect();
            current = Some(sections.entry(words.join(" ")).or_default());
        } else if let Some((name, value)) = line.split_once('=')
            && let Some(section) = &mut current
        {
            let value = without_comment(value).trim().to_owned();
            section.insert(name.trim().to_ascii_lowercase(), value);
        }
    }
    sections
}

/// Removes a comment from the end of a line. It begins with a mark after a space.
fn without_comment(value: &str) -> &str {
    let marks = [" #", " ;", "\t#", "\t;"];
    let end = marks.iter().filter_map(|it| value.find(it)).min();
    &value[..end.unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_a_file_are_read() {
        let text = "# [default]\nregion = none\n[default]\nRegion=eu-west-1 ; near\n aws_access_key_id = indented\n\
                    \n[profile  team]\naws_secret_access_key = a=b#c\nbroken line\n[profile team]\nx =\n[open\ny = 1\n";
        let expected = [
            ("default", vec![("region", "eu-west-1")]),
            ("open", vec![("y", "1")]),
            ("profile team", vec![("aws_secret_access_key", "a=b#c"), ("x", "")]),
        ];
        let owned = |(name, settings): (&str, Vec<(&str, &str)>)| {
            let settings = settings.into_iter().map(|(name, value)| (name.into(), value.into()));
            (name.to_owned(), settings.collect())
        };
        assert_eq!(sections(text), expected.map(owned).into());
    }
}
