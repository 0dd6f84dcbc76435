import ServiceLifecycle

/// One part of a running program, as a service with a name.
struct ProgramPart: Service {
    let name: String
    private let body: @Sendable () async throws -> Void

    init(_ name: String, body: @escaping @Sendable () async throws -> Void) {
        self.name = name
        self.body = body
    }

    func run() async throws { try await self.body() }
}
