extension Assembly {
    /// Serves a recording to other programs until it is stopped.
    package static func serve(_ order: ServeOrder, _ settings: Settings) async throws {
        throw OperatorError.notAssembled("serve")
    }
}
