// The widget calls this with the visitor's answer. If it is right, the page that was asked for has the place in line.
window.fairdoorAnswered = async (token) => {
  const page = document.getElementById("challenge").dataset;
  const answer = await fetch(page.to, { method: "POST", body: new URLSearchParams({ response: token }) }).catch(() => 0);
  if (answer && answer.ok) return location.replace(page.address);
  document.getElementById("later").textContent = document.getElementById("again").textContent;
  setTimeout(() => location.replace(page.address), 5000 + 5000 * Math.random());
};
