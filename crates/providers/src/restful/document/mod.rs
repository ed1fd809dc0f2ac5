//! JSON documents: conversion to and from values, selection, edits, and the set operations of `ephemeral_body`.
