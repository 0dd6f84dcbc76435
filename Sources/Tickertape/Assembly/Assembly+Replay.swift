extension Assembly {
    /// Plays a recording through everything that live trades go through, to its end or until it is stopped.
    package static func replay(_ order: ReplayOrder, _ settings: Settings) async throws {
        throw OperatorError.notAssembled("replay")
    }
}
