"""Color quantization: an image of many colors is drawn with 64, found by k-means."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

rng = np.random.RandomState(0)
height, width = 300, 450
y, x = np.mgrid[0:height, 0:width]
image = np.stack([x / width, y / height, np.hypot(x - 225, y - 150) / 270], axis=-1)
image = np.clip(image + 0.15 * rng.standard_normal(image.shape), 0, 1)
pixels = image.reshape(-1, 3)
model = KMeans(n_clusters=64, n_init=4, random_state=0).fit(pixels)
print(f"iterations {model.n_iter_}, inertia {model.inertia_:.4f}")
labels = model.predict(pixels)
error = np.sqrt(np.mean((model.cluster_centers_[labels] - pixels) ** 2))
random_colors = pixels[rng.choice(len(pixels), 64, replace=False)]
nearest = pairwise_distances_argmin(random_colors, pixels, axis=0)
random_error = np.sqrt(np.mean((random_colors[nearest] - pixels) ** 2))
print(f"error with 64 colors {error:.5f}, with random colors {random_error:.5f}")
print("largest clusters", np.sort(np.bincount(labels))[::-1][:5])
