import NIOPosix
import ServiceLifecycle

extension TickerProgram {
    /// Runs the parts until one of them ends or a signal comes, and stops them from the last to the first.
    static func live(_ parts: [ProgramPart]) async throws {
        let services = ServiceGroup(configuration: Self.configuration(for: parts, logger: ProgramLog.silent))
        do {
            try await services.run()
        } catch let error as ServiceGroupError where error.errorCode == .serviceFinishedUnexpectedly {
            // Two ends at once, such as Ctrl-C for this program and for the reader of its pipe: all parts have stopped.
        }
    }
}

extension MultiThreadedEventLoopGroup {
    /// How long the end of the loops is waited for, after everything on them has been told to close.
    private static let endLimit = Duration.milliseconds(200)

    /// Ends the loops, without letting a peer that does not answer hold up the program's end.
    func end() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.shutdownGracefully { _ in continuation.yield() }
        let timer = Task {
            try await Task.sleep(for: Self.endLimit)
            continuation.yield()
        }
        for await _ in stream { break }
        timer.cancel()
    }
}
