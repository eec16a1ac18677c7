"""The rules of Segue: values in, values out. No clock, no disk, no network, no await."""
