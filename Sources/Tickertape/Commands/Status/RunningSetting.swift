/// A setting of a running program, as its relay's `/v1/settings` tells it.
struct RunningSetting {
    var key: String
    var value: String
    /// Where the value came from, for people.
    var origin: String
    /// The layer that it came from (``Origin/layer``).
    var layer: String
    /// The absolute path, if the value is one.
    var path: String?

    private init?(_ object: JSONTree) {
        guard let key = object["key"]?.text, let value = object["value"]?.text,
            let origin = object["origin"]?.text, let layer = object["layer"]?.text
        else { return nil }
        (self.key, self.value, self.origin, self.layer) = (key, value, origin, layer)
        self.path = object["path"]?.text
    }

    /// Returns the settings of an answer of `/v1/settings`; empty if it is something else.
    static func list(_ answer: JSONTree) -> [RunningSetting] { answer.elements.compactMap(RunningSetting.init) }
}
