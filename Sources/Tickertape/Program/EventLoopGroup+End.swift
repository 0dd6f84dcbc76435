import NIOPosix

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
