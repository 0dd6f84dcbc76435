extension Assembly {
    /// Follows the market until it is stopped, or the bundled recording when there is no key.
    package static func run(_ settings: Settings) async throws {
        throw OperatorError.notAssembled("run")
    }
}
