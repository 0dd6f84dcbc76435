extension Assembly {
    /// Shows what the relay at `url` sends until it is stopped.
    package static func watch(_ url: StreamURL, _ settings: Settings) async throws {
        throw OperatorError.notAssembled("watch")
    }
}
