//! The search for the keys of an account.

use super::profile::Profile;
use crate::credentials::{AwsKeys, FoundKeys};
use crate::error::StorageError;
use crate::storage::ObjectStorage;

impl ObjectStorage {
    /// Finds the keys for an address. If the address itself names the profile, the environment is not asked for keys.
    /// `None` if there are none.
    pub(crate) async fn keys(
        &self,
        profile: Option<Profile>,
        is_named: bool,
    ) -> Result<Option<FoundKeys>, StorageError> {
        let name = profile.as_ref().filter(|_| is_named).map(|it| it.name.clone());
        // The lock is held during the search, so that concurrent modules make no further one.
        let mut known = self.keys.lock().await;
        let name = name.unwrap_or_default();
        if let Some(found) = known.get(&name) {
            return Ok(found.clone());
        }
        let found = self.search(profile, is_named).await?;
        known.insert(name, found.clone());
        Ok(found)
    }

    async fn search(
        &self,
        profile: Option<Profile>,
        is_named: bool,
    ) -> Result<Option<FoundKeys>, StorageError> {
        let found =
            |keys: AwsKeys, place: &str| Ok(Some(FoundKeys { keys, place: place.to_owned() }));
        if !is_named && let Some(keys) = self.keys_of_environment()? {
            return found(keys, "of the environment");
        }
        if !is_named && let Some(keys) = self.keys_of_web_identity(profile.as_ref()).await? {
            return found(keys, "of the role in AWS_ROLE_ARN");
        }
        if let Some(profile) = &profile
            && let Some(keys) = profile.keys()?
        {
            return found(keys, &format!("of the profile {:?}", profile.name));
        }
        if let Some(keys) = self.keys_of_container().await? {
            return found(keys, "of the container");
        }
        match self.keys_of_instance().await? {
            Some(keys) => found(keys, "of the instance"),
            None => Ok(None),
        }
    }

    fn keys_of_environment(&self) -> Result<Option<AwsKeys>, StorageError> {
        let id = self.environment.first(&["AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY"]);
        let secret = self.environment.first(&["AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY"]);
        match (id, secret) {
            (Some(id), Some(secret)) => Ok(Some(AwsKeys {
                id: id.to_owned(),
                secret: secret.to_owned(),
                token: self.environment.get("AWS_SESSION_TOKEN").map(str::to_owned),
            })),
            (None, None) => Ok(None),
            _ => Err(StorageError::refused(
                "the environment has only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            )),
        }
    }
}
