extension Assembly {
    /// Follows the market and writes what comes to `record.file`, or to a new file in `record.directory`.
    package static func record(_ settings: Settings) async throws {
        throw OperatorError.notAssembled("record")
    }
}
