import NIOPosix
import Platform

extension MultiThreadedEventLoopGroup {
    /// The wait for the loops' end, after everything on them has been closed.
    private static let endLimit = Duration.milliseconds(200)

    /// Shuts the loops down. A peer that does not answer cannot delay the program's end beyond the limit.
    func end() async {
        let _: Void? = await withTimeLimit(Self.endLimit) {
            await withCheckedContinuation { (ended: CheckedContinuation<Void, Never>) in
                self.shutdownGracefully { _ in ended.resume() }
            }
        }
    }
}
