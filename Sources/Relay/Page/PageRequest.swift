import NIOHTTP1

extension HTTPRequestHead {
    /// Whether the request is for a file of the page. The page loads before the user has entered a token, so it needs
    /// none; its files hold no secret. At `/` a request for a WebSocket, even an invalid one, is not for the page.
    var asksForPage: Bool {
        guard PageAnswer.all[String(self.path)] != nil else { return false }
        return !self.headers.contains(name: "Upgrade") && !self.headers.contains(name: "Sec-WebSocket-Key")
            && !self.headers.contains(name: "Sec-WebSocket-Version")
    }
}
