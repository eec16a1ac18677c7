"""The world behind the ports: each adapter knows its own library and no other adapter."""
